-- Every corpus with its size, by name.
select c.name, c.profile, c.passages,
       (select count(distinct p.document_id) from passages p where p.corpus = c.name) as documents,
       array(select distinct p.collection from passages p where p.corpus = c.name order by 1) as collections,
       (select count(*) from links l join passages p on p.pk = l.source_pk where p.corpus = c.name) as links
  from corpora c
 order by c.name
