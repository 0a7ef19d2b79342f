-- The copies of a corpus whose process is gone: nobody holds their lock any more.
select c.name
  from corpora c
 where starts_with(c.name, :name || '~')
   and not exists (
           select from pg_locks l
            where l.locktype = 'advisory'
              and l.database = (select d.oid from pg_database d where d.datname = current_database())
              and l.classid = cast(:copying as bigint)::oid
              and l.objid = (hashtext(c.name)::bigint & 4294967295)::oid
              and l.objsubid = 2)
