-- Lets a corpus be searched by the vectors of another model. What was remembered of it is void from here on.
update corpora
   set model = :model, version = greatest(version + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)
 where name = :corpus
   and model is distinct from :model
