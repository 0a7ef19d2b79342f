-- name: add
insert into rag_metrics (name, labels, value)
select name, labels, value from jsonb_to_recordset(cast(:rows as jsonb)) as counted (name text, labels text[], value float8)
on conflict (name, labels) do update set value = rag_metrics.value + excluded.value

-- name: all
select name, labels, value from rag_metrics
