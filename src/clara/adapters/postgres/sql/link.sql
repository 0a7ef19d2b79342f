-- Links by the ids of passages; an edge whose passage is not there is left out.
insert into links (source_pk, target_pk)
select s.pk, t.pk
  from unnest(cast(:sources as text[]), cast(:targets as text[])) as e(source, target)
  join passages s on s.corpus = :corpus and s.id = e.source
  join passages t on t.corpus = :corpus and t.id = e.target
on conflict do nothing
