-- Gives the remembered vectors of some keys, counts each use, and adds hits, misses and the time saved to the totals of the
-- model. Rows are locked in the order of their keys, so that two loads never wait for each other in a circle.
with held as materialized (
    select key
      from remembered_embeddings
     where key = any(cast(:keys as text[]))
       and model = :model
       and created_at > now() - make_interval(secs => :lifetime)
     order by key
       for no key update
),
given as (
    update remembered_embeddings as r
       set uses = r.uses + 1, used_at = now()
      from held
     where r.key = held.key
 returning r.key, r.vector, r.milliseconds
),
counted as (
    insert into embedding_memory_totals as t (model, hits, misses, saved_ms)
    select :model, count(*), cardinality(cast(:keys as text[])) - count(*), coalesce(sum(milliseconds), 0)
      from given
        on conflict (model) do update
       set hits = t.hits + excluded.hits, misses = t.misses + excluded.misses, saved_ms = t.saved_ms + excluded.saved_ms
)
select key, vector_send(vector) as vector from given
