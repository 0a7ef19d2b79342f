-- What is served under a name. Its own publication counts from the first switch on, when there is a way back to it.
select asked.name, coalesce(s.physical, asked.name) as physical, c.version, s.publication_id as publication,
       coalesce(p.revisions, '{}') as revisions
  from (select cast(:name as text) as name) asked
  left join served s on s.name = asked.name
  left join publications p on p.id = s.publication_id
  left join corpora c on c.name = coalesce(s.physical, asked.name)
