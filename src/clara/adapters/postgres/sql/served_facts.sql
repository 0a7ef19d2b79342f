-- Gives the facts that are served, with what their freshness depends on.
select id, document_id, section, metadata -> 'sources' as sources, metadata -> 'legal_basis' as legal_basis,
    cast(metadata ->> 'valid_until' as date) as valid_until
from passages
where corpus = coalesce((select physical from served where name = :corpus), :corpus) and collection = :collection
order by id
