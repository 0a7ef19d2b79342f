-- name: days
select day, state, issues, items, tries, error, read_at from gazette_days order by day desc limit :limit

-- name: items
-- The newest day first; an item is older than another by day and, within a day, by id.
select id, day, section, department, title, url, score, reasons, norms, facts, procedures, found_at, notified_at, seen_at
from gazette_items
where (not :unseen or seen_at is null)
    and (
        cast(:before as text) is null
        or (day, id) < (select day, id from gazette_items where id = :before)
    )
order by day desc, id desc limit :limit

-- name: seen
update gazette_items set seen_at = coalesce(seen_at, :now, now()) where id = :id returning seen_at

-- name: alerts
select id, day, section, department, title, url, score, reasons, norms, facts, procedures, found_at, notified_at, seen_at
from gazette_items
where (cast(:ids as text[]) is null or id = any (cast(:ids as text[]))) and (not :unseen or seen_at is null)
order by day desc, score desc, id limit :limit

-- name: untold
select id, day, section, department, title, url, score, reasons, norms, facts, procedures, found_at, notified_at, seen_at
from gazette_items where notified_at is null and seen_at is null
order by day, score desc, id limit :limit for update skip locked

-- name: told
update gazette_items set notified_at = :now where id = any (:ids)
