-- The next passages of a corpus, in the order in which they were written, that have no vector in a space.
select p.pk as key, p.indexed_text as text
  from passages p
 where p.corpus = :corpus
   and p.pk > :after
   and not exists (select from embeddings e where e.space_id = :space_id and e.passage_pk = p.pk)
 order by p.pk
 limit :limit
