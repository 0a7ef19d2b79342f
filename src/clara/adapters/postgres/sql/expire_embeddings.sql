-- Drops the vectors that are too old. Those that somebody is renewing are passed over.
delete from remembered_embeddings
 where key in (
    select key
      from remembered_embeddings
     where created_at <= now() - make_interval(secs => :lifetime)
       for update skip locked
)
