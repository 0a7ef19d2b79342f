-- Drops the least recently used vectors when there are more than `most`, down to `kept`. Those in use are passed over.
delete from remembered_embeddings
 where key in (
    select key
      from remembered_embeddings
     order by used_at
     limit (select case when count(*) > :most then count(*) - :kept else 0 end from remembered_embeddings)
       for update skip locked
)
