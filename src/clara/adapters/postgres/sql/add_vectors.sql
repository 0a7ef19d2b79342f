-- Adds vectors to a space, except of passages that were dropped or written anew meanwhile. A passage that is being dropped is
-- waited for: its vector must not outlive it.
insert into embeddings (space_id, passage_pk, digest, vector)
select :space_id, p.pk, encode(sha256(convert_to(p.indexed_text, 'UTF8')), 'hex'), cast(v.vector as vector)
  from unnest(cast(:keys as bigint[]), cast(:vectors as text[])) as v(pk, vector)
  join passages p on p.pk = v.pk and p.corpus = :corpus
   for key share of p
    on conflict do nothing
