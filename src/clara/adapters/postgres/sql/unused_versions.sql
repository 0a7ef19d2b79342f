-- The corpora made for versions of a name that are neither served nor among the last ones that can be gone back to.
select c.name
  from corpora c
 where (c.name = :name or starts_with(c.name, :name || '@'))
   and not exists (select from publications p where p.physical = c.name and p.state in ('served', 'staged'))
   and not exists (select from served s where s.physical = c.name)
   and exists (select from publications p where p.corpus = :name and p.state = 'served')
   and c.name not in (
           select p.physical
             from publications p
            where p.corpus = :name and p.state = 'past' and exists (select from corpora k where k.name = p.physical)
            order by p.ended_at desc
            limit :kept)
 order by c.name
