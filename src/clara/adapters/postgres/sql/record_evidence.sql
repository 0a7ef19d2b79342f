-- Closes the versions of evidence that are no longer served and opens those that are, for every name that a corpus stands
-- behind; of all its passages, or of those that were changed. The time is read once, after whoever changed evidence before has committed; the versions of a passage never overlap.
with moment as materialized (select clock_timestamp() as at),
     asked as (
         select s.name from served s where s.physical = :physical
         union
         select cast(:physical as text) where not exists (select from served s where s.name = :physical)
     ),
     names as (select name from asked where name = any(cast(:evidence as text[]))),
     held as (
         select n.name, p.id, p.digest,
                jsonb_build_object('id', p.id, 'collection', p.collection, 'document_id', p.document_id,
                                   'section', p.section, 'heading', p.heading, 'text', p.text, 'language', p.language,
                                   'territory', p.territory, 'metadata', p.metadata) as content
           from names n
           join passages p
             on p.corpus = :physical
            and (cast(:ids as text[]) is null or p.id = any(cast(:ids as text[])))
     ),
     closed as (
         update evidence_versions v
            set known_until = (select at from moment)
          where v.corpus in (select name from names)
            and v.known_until is null
            and (cast(:ids as text[]) is null or v.passage_id = any(cast(:ids as text[])))
            and not exists (select from held h where h.name = v.corpus and h.id = v.passage_id and h.digest = v.digest)
         returning v.passage_id
     )
insert into evidence_versions (corpus, passage_id, known_from, digest, content)
select h.name, h.id, (select at from moment), h.digest, h.content
  from held h
 -- Counting them first closes them first: a passage has one open version.
 where (select count(*) from closed) >= 0
   and not exists (
           select from evidence_versions v
            where v.corpus = h.name and v.passage_id = h.id and v.known_until is null and v.digest = h.digest)
