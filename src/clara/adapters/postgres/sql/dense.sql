-- The nearest passages by vector alone: what hybrid.sql gives where words, names, links and preferences weigh nothing, for a
-- fraction of its time. The text varies in the same places. No document fills the list alone, as there. What has ended or not
-- begun on the day :today is left out.
with untimely as materialized (
    select pk as passage_pk
      from passages
     where cast(:today as text) is not null
       and corpus = :corpus
       and (metadata ->> 'valid_until' < :today or metadata ->> 'valid_from' > :today)
),
nearest as materialized (
    -- Ordered by what is given out, or every distance would be computed twice.
    select e.passage_pk,
           {distance}{exactly} as distance
      from embeddings e{join_passages}
     where e.space_id = {space_id}
       and e.passage_pk not in (select passage_pk from untimely){and_filtered}
     order by distance
     limit :dense_pool
),
scored as (
    select n.passage_pk, n.cosine, n.dense_rank,
           case when cast(:by_ranks as boolean) then cast(:dense as float8) / (cast(:rank_constant as float8) + n.dense_rank)
                else cast(:dense as float8) * coalesce((n.cosine - n.low) / nullif(n.high - n.low, 0), 0) end as score
      from (
          select passage_pk, 1 - distance as cosine, row_number() over (order by distance, passage_pk) as dense_rank,
                 1 - max(distance) over () as low, 1 - min(distance) over () as high
            from nearest
      ) n
),
ranked as (
    select s.*, row_number() over (partition by p.document_id order by s.score desc, s.passage_pk) as place
      from scored s
      join passages p on p.pk = s.passage_pk
),
kept as (
    select * from ranked order by place > :of_one_document, score desc, passage_pk limit :limit
)
select p.id, p.corpus, p.collection, p.document_id, p.section, p.heading, p.text, p.language, p.territory, p.metadata,
       k.cosine, k.dense_rank, 0 as lexical, null::bigint as lexical_rank, 0 as linked, k.score, false as ended,
       null::float8 as coverage{vector_column}
  from kept k
  join passages p on p.pk = k.passage_pk{join_vector}
 order by k.score desc, p.id
