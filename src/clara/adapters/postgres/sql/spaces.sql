-- Every vector space of the corpora: its size, and whether the corpus is searched by it. A corpus without a space has one row.
select c.name as corpus, c.passages, s.model, coalesce(s.dimensions, 0) as dimensions,
       coalesce(s.model = c.model, false) as served, (select count(*) from embeddings e where e.space_id = s.id) as vectors
  from corpora c
  left join vector_spaces s on s.corpus = c.name
 order by c.name, s.model
