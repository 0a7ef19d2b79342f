-- The hybrid search: BM25 and vectors, each from its own index, fused by score, in one statement.
-- BM25 with k1 = 1.2, b = 0.75. Fusion: min-max over the candidates, 0.7 cosine + 0.3 BM25 (XQuAD es R@1 .962 against .915
-- dense alone, .927 BM25 alone, .935 reciprocal ranks). space_id and dimensions are integers from vector_spaces, written
-- into the text because the planner must prove that the partial HNSW index serves the query. Passages of the documents that
-- the question is probably about join the candidates and gain the weight of their document and section. No document fills
-- the list alone, so that a question about two finds both.
with meant as materialized (
    select * from unnest(cast(:documents as text[]), cast(:document_weights as float8[])) as d(document_id, weight)
),
asked as materialized (
    select *
      from unnest(cast(:section_documents as text[]), cast(:sections as text[]), cast(:section_weights as float8[]))
           as s(document_id, section, weight)
),
terms as materialized (
    select distinct l.term
      from corpora c
      cross join lateral unnest(c.languages) as spoken(language)
      cross join lateral lexemes(spoken.language, :text) as l
     where c.name = :corpus
),
weights as materialized (
    select t.term,
           ln(1 + (c.passages - coalesce(x.passages, 0) + 0.5) / (coalesce(x.passages, 0) + 0.5)) as idf,
           c.terms::float8 / greatest(c.passages, 1) as mean_length
      from terms t
      join corpora c on c.name = :corpus
      left join lexicon x on x.corpus = :corpus and x.term = t.term
),
lexical as materialized (
    select p.passage_pk,
           sum(w.idf * p.frequency * 2.2 / (p.frequency + 1.2 * (0.25 + 0.75 * p.length / w.mean_length))) as bm25,
           sum(w.idf) as covered
      from weights w
      join postings p on p.corpus = :corpus and p.term = w.term
     group by p.passage_pk
     order by bm25 desc, p.passage_pk
     limit :pool
),
dense as materialized (
    select e.passage_pk,
           1 - (e.vector::vector({dimensions}) <=> cast(:vector as vector({dimensions}))) as cosine
      from embeddings e
     where e.space_id = {space_id}
     order by e.vector::vector({dimensions}) <=> cast(:vector as vector({dimensions}))
     limit :pool
),
preferred as materialized (
    select p.pk as passage_pk
      from meant d
      join passages p on p.corpus = :corpus and p.document_id = d.document_id
      left join asked s on s.document_id = p.document_id and s.section = p.section
     order by d.weight + coalesce(s.weight, 0) desc, p.pk
     limit :preferred
),
candidates as materialized (
    select passage_pk,
           coalesce(d.cosine, (
               select 1 - (e.vector::vector({dimensions}) <=> cast(:vector as vector({dimensions})))
                 from embeddings e
                where e.space_id = {space_id} and e.passage_pk = coalesce(l.passage_pk, f.passage_pk)
           )) as cosine,
           coalesce(l.bm25, 0) as bm25,
           coalesce(l.covered, 0) as covered
      from dense d
      full join lexical l using (passage_pk)
      full join preferred f using (passage_pk)
),
ranges as (
    select min(cosine) as low_cosine, nullif(max(cosine) - min(cosine), 0) as cosine_range, nullif(max(bm25), 0) as best_bm25
      from candidates
),
scored as materialized (
    select c.*,
           p.document_id,
           0.7 * coalesce((c.cosine - r.low_cosine) / r.cosine_range, 0) + 0.3 * coalesce(c.bm25 / r.best_bm25, 0)
           + coalesce(d.weight + coalesce(s.weight, 0), 0) as score
      from candidates c
      cross join ranges r
      join passages p on p.pk = c.passage_pk
      left join meant d using (document_id)
      left join asked s using (document_id, section)
     where cardinality(cast(:territories as text[])) = 0 or p.territory = any(cast(:territories as text[]))
),
ranked as (
    select *, row_number() over (partition by document_id order by score desc, passage_pk) as place from scored
),
kept as (
    select * from ranked order by place > :of_one_document, score desc, passage_pk limit :limit
)
select p.id, p.corpus, p.collection, p.document_id, p.section, p.heading, p.text, p.language, p.territory, p.metadata,
       k.cosine, k.bm25 as lexical,
       coalesce(k.covered / nullif((select sum(idf) from weights), 0), 0) as coverage,
       k.score
  from kept k
  join passages p on p.pk = k.passage_pk
 order by k.score desc, p.id
