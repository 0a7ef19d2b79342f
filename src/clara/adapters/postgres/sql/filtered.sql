-- What passages must be that a query is limited to: a part of hybrid.sql and dense.sql.
-- The passage's own language and collection may be asked for like its metadata, which has the last word.
and (cardinality(cast(:territories as text[])) = 0 or p.territory = any(cast(:territories as text[])))
and (cardinality(cast(:collections as text[])) = 0 or p.collection = any(cast(:collections as text[])))
and not exists (
    select from jsonb_each(cast(:filters as jsonb)) as f(key, accepted)
     cross join lateral (
         select jsonb_build_object('language', p.language, 'collection', p.collection)
                || p.metadata -> f.key as value
     ) held
     where not coalesce(case jsonb_typeof(held.value)
               when 'object' then false
               when 'array' then exists (
                   select from jsonb_array_elements_text(held.value) as one(value)
                    where one.value = any(array(select jsonb_array_elements_text(f.accepted))))
               else held.value #>> '{}' = any(array(select jsonb_array_elements_text(f.accepted)))
           end, false)
)
