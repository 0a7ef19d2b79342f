-- The hybrid search: BM25 and vectors, each from its own index, fused, and the passages that the best ones name, in one statement.
--
-- The text varies in four places only, none of which a person can reach: space_id and dimensions are integers from
-- vector_spaces (the planner must prove that the partial HNSW index serves the query); the conditions in braces are there when
-- the query filters; {exactly} takes the index away from the planner when every vector is to be compared. Two parts stand several
-- times and are written once: bm25.sql, and the distance between a passage's vector and the question's.
--
-- BM25 has k1 = 1.2, b = 0.75. Postings are read from the rarest term on until :budget of them; the terms beyond are looked up
-- only for the :rough best passages, so that a frequent word costs what it tells. Fusion is min-max over the candidates,
-- :dense of the cosine's range + :lexical of the best BM25, or reciprocal ranks; :by_coverage trusts words as far as the best
-- passage covers the question, which it hardly does when both are in different languages. Passages of documents that the question is
-- probably about, and those whose name it says, join the candidates and gain weight; passages named by the best :sources gain
-- :links of that one's score. No document fills the list alone, so that a question about two finds both.
--
-- On the day :today, what has ended or not begun is in no leg and in no range, so that it changes nothing about the rest. What
-- has ended is scored against the same ranges, in `lapsed`, and given apart, up to :limit of it. Without a day all of it holds,
-- and no passage is looked at for its days.
with untimely as materialized (
    select pk as passage_pk, coalesce(metadata ->> 'valid_from' <= :today, true) as begun
      from passages
     where cast(:today as text) is not null
       and corpus = :corpus
       and (metadata ->> 'valid_until' < :today or metadata ->> 'valid_from' > :today)
),
meant as materialized (
    select * from unnest(cast(:documents as text[]), cast(:document_weights as float8[])) as d(document_id, weight)
),
asked as materialized (
    select *
      from unnest(cast(:section_documents as text[]), cast(:sections as text[]), cast(:section_weights as float8[]))
           as s(document_id, section, weight)
),
told as materialized (
    select p.pk as passage_pk, max(g.weight) as weight
      from unnest(cast(:passages as text[]), cast(:passage_weights as float8[])) as g(id, weight)
      join passages p on p.corpus = :corpus and p.id = g.id
     group by p.pk
),
terms as materialized (
    select distinct l.term
      from corpora c
      cross join lateral unnest(c.languages) as spoken(language)
      cross join lateral lexemes(spoken.language, :text) as l
     where c.name = :corpus
),
spread as materialized (
    select t.term,
           ln(1 + (c.passages - coalesce(x.passages, 0) + 0.5) / (coalesce(x.passages, 0) + 0.5))::float8 as idf,
           0.9 * c.passages::float8 / greatest(c.terms, 1) as slope,
           sum(coalesce(x.passages, 0)) over (order by coalesce(x.passages, 0), t.term) as read,
           row_number() over (order by coalesce(x.passages, 0), t.term) as place
      from terms t
      join corpora c on c.name = :corpus
      left join lexicon x on x.corpus = :corpus and x.term = t.term
),
weights as materialized (
    select term, idf, slope, read <= :budget or place = 1 as rare from spread
),
rough as materialized (
    select o.passage_pk,
           sum(w.idf * 2.2::float8 * o.frequency / (o.frequency + 0.3::float8 + o.length * w.slope)) as bm25,
           sum(w.idf) as covered
      from weights w
      cross join lateral (
          -- The offset keeps the planner from reading a small corpus's postings whole, which it does when others are large.
          select t.passage_pk, t.frequency, t.length from postings t where t.corpus = :corpus and t.term = w.term offset 0
      ) o{and_postings_filtered}
     where w.rare
       and o.passage_pk not in (select passage_pk from untimely)
     group by o.passage_pk
     order by bm25 desc, o.passage_pk
     limit :rough
),
lexical as materialized (
    select passage_pk, bm25, covered, row_number() over (order by bm25 desc, passage_pk) as lexical_rank
      from (
          select r.passage_pk, r.bm25 + coalesce(f.bm25, 0) as bm25, r.covered + coalesce(f.covered, 0) as covered
            from rough r
            left join lateral (
                {bm25_of_r}
                 where not w.rare
            ) f on true
           order by bm25 desc, r.passage_pk
           limit :lexical_pool
      ) best
),
dense as materialized (
    -- Ordered by what is given out, or every distance would be computed twice.
    select passage_pk, 1 - distance as cosine, row_number() over (order by distance, passage_pk) as dense_rank
      from (
          select e.passage_pk, {distance}{exactly} as distance
            from embeddings e{join_passages}
           where e.space_id = {space_id}
             and e.passage_pk not in (select passage_pk from untimely){and_filtered}
           order by distance
           limit :dense_pool
      ) nearest
),
preferred as materialized (
    select p.pk as passage_pk
      from meant d
      join passages p on p.corpus = :corpus and p.document_id = d.document_id
      left join asked s on s.document_id = p.document_id and s.section = p.section
      left join told t on t.passage_pk = p.pk
     where p.pk not in (select passage_pk from untimely){and_filtered}
     order by d.weight + coalesce(s.weight, 0) + coalesce(t.weight, 0) desc, p.pk
     limit :preferred
),
said as materialized (
    select n.passage_pk
      from names n{join_named}
     where n.corpus = :corpus
       and n.name = any(cast(:names as text[]))
       and n.passage_pk not in (select passage_pk from untimely){and_filtered}
     group by n.passage_pk
     order by n.passage_pk
     limit :pool
),
candidates as materialized (
    select passage_pk,
           coalesce(d.cosine, (
               select 1 - {distance}
                 from embeddings e
                where e.space_id = {space_id} and e.passage_pk = coalesce(l.passage_pk, f.passage_pk, n.passage_pk)
           )) as cosine,
           d.dense_rank,
           coalesce(l.bm25, 0) as bm25,
           coalesce(l.covered, 0) as covered,
           l.lexical_rank,
           n.passage_pk is not null as named,
           false as ended
      from dense d
      full join lexical l using (passage_pk)
      full join preferred f using (passage_pk)
      full join said n using (passage_pk)
),
lapsed as materialized (
    select u.passage_pk,
           1 - {distance} as cosine,
           row_number() over (order by {distance}) as dense_rank,
           coalesce(f.bm25, 0) as bm25,
           coalesce(f.covered, 0) as covered,
           row_number() over (order by f.bm25 desc nulls last) as lexical_rank,
           false as named,
           true as ended
      from untimely u
      join embeddings e on e.space_id = {space_id} and e.passage_pk = u.passage_pk
      left join lateral (
                {bm25_of_u}
      ) f on true
     where u.begun
),
ranges as materialized (
    select min(cosine) as low_cosine, nullif(max(cosine) - min(cosine), 0) as cosine_range, nullif(max(bm25), 0) as best_bm25,
           case when cast(:by_coverage as boolean)
                then coalesce(max(covered) / nullif((select sum(idf) from weights), 0), 0) else 1 end as trust
      from candidates
),
fused as materialized (
    select c.*,
           case when cast(:by_ranks as boolean)
                then coalesce(cast(:dense as float8) / (cast(:rank_constant as float8) + c.dense_rank), 0)
                     + coalesce(cast(:lexical as float8) / (cast(:rank_constant as float8) + c.lexical_rank), 0)
                else cast(:dense as float8) * coalesce((c.cosine - r.low_cosine) / r.cosine_range, 0)
                     + cast(:lexical as float8) * r.trust * coalesce(c.bm25 / r.best_bm25, 0)
           end + case when c.named then cast(:named as float8) else 0 end as own
      from (select * from candidates union all select * from lapsed) c
      cross join ranges r
),
linked as materialized (
    select l.target_pk as passage_pk, cast(:links as float8) * max(f.own) as share
      from (select passage_pk, own from fused where not ended order by own desc, passage_pk limit :sources) f
      join links l on l.source_pk = f.passage_pk
     where cast(:links as float8) > 0
     group by l.target_pk
),
joined as materialized (
    select f.passage_pk, f.cosine, f.dense_rank, f.bm25, f.covered, f.lexical_rank, f.own, f.ended,
           coalesce(l.share, 0) as share
      from fused f
      left join linked l using (passage_pk)
    union all
    select l.passage_pk, n.cosine, null, 0, 0, null,
           case when cast(:by_ranks as boolean) then 0
                else cast(:dense as float8) * greatest(0, coalesce((n.cosine - r.low_cosine) / r.cosine_range, 0)) end,
           false,
           l.share
      from linked l
      cross join ranges r
      left join lateral (
          select 1 - {distance} as cosine
            from embeddings e
           where e.space_id = {space_id} and e.passage_pk = l.passage_pk
      ) n on true
     where l.passage_pk not in (select passage_pk from fused)
       and l.passage_pk not in (select passage_pk from untimely)
),
scored as materialized (
    select j.*,
           p.document_id,
           j.own + j.share + coalesce(d.weight + coalesce(s.weight, 0) + coalesce(t.weight, 0), 0) as score
      from joined j
      join passages p on p.pk = j.passage_pk
      left join meant d using (document_id)
      left join asked s using (document_id, section)
      left join told t using (passage_pk)
     where true{and_filtered}
),
ranked as (
    select *, row_number() over (partition by document_id, ended order by score desc, passage_pk) as place from scored
),
kept as (
    (select * from ranked where not ended order by place > :of_one_document, score desc, passage_pk limit :limit)
    union all
    (select * from ranked where ended order by score desc, passage_pk limit :limit)
)
select p.id, p.corpus, p.collection, p.document_id, p.section, p.heading, p.text, p.language, p.territory, p.metadata,
       k.cosine, k.dense_rank, k.bm25 as lexical, k.lexical_rank, k.share as linked, k.score, k.ended,
       coalesce(k.covered / nullif((select sum(idf) from weights), 0), 0) as coverage{vector_column}
  from kept k
  join passages p on p.pk = k.passage_pk{join_vector}
 order by k.score desc, p.id
