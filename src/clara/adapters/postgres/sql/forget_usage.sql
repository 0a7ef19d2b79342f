-- Drops the windows that no message is counted in any more. Rows that somebody holds wait for the next time.
delete from usage
 where (scope, window_start, shard) in (
           select scope, window_start, shard from usage
            where window_start < now() - make_interval(days => :days)
              for update skip locked
       )
