-- The passages that were served under a name at a moment. One that was first known later counts as it was known first.
select v.passage_id, v.content, v.first_known > :moment as known_later
  from (select e.passage_id, e.content, e.known_from, e.known_until,
               min(e.known_from) over (partition by e.passage_id) as first_known
          from evidence_versions e
         where e.corpus = :name) v
 where (v.known_from <= :moment and (v.known_until is null or v.known_until > :moment))
    or (v.first_known > :moment and v.known_from = v.first_known)
 order by v.passage_id
