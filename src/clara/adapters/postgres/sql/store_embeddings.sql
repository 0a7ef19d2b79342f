-- Stores computed vectors; what is there under a key is replaced and keeps its count of uses.
insert into remembered_embeddings (key, model, vector, milliseconds)
select key, :model, cast(vector as vector), milliseconds
  from unnest(cast(:keys as text[]), cast(:vectors as text[]), cast(:milliseconds as float8[])) as c(key, vector, milliseconds)
 order by key
    on conflict (key) do update
   set vector = excluded.vector, milliseconds = excluded.milliseconds, created_at = now(), used_at = now()
