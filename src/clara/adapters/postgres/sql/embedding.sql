-- name: size
select count(*) as entries, min(created_at) as oldest, pg_total_relation_size('remembered_embeddings') as bytes_on_disk
from remembered_embeddings

-- name: totals
select coalesce(sum(hits), 0)::bigint as hits, coalesce(sum(misses), 0)::bigint as misses,
    coalesce(sum(saved_ms), 0)::float8 as saved_ms
from embedding_memory_totals

-- name: most_used
select left(key, :digits) as digest, model, uses from remembered_embeddings
where uses > 0 order by uses desc, key limit :limit
