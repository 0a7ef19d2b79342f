-- xmax is 0 in a row that this statement has inserted.
insert into gazette_items (id, day, section, department, title, url, score, reasons, norms, facts, procedures, found_at)
values (
    :id, :day, :section, :department, :title, :url, :score, cast(:reasons as jsonb), cast(:norms as text[]), cast(:facts as text[]),
    cast(:procedures as text[]), :found_at
)
on conflict (id) do update set
    score = greatest(gazette_items.score, excluded.score),
    reasons = case when excluded.score >= gazette_items.score then excluded.reasons else gazette_items.reasons end,
    norms = case when excluded.score >= gazette_items.score then excluded.norms else gazette_items.norms end,
    facts = case when excluded.score >= gazette_items.score then excluded.facts else gazette_items.facts end,
    procedures = case when excluded.score >= gazette_items.score then excluded.procedures else gazette_items.procedures end
returning id, xmax = 0 as new
