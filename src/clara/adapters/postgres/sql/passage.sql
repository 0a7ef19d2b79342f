-- name: digests
select id, digest from passages
where corpus = :corpus and (cast(:document as text) is null or document_id = :document)

-- name: vector_digests
select passages.id, embeddings.digest from passages join embeddings on passage_pk = pk
where corpus = :corpus and (cast(:document as text) is null or document_id = :document) and space_id = :space_id

-- name: profile
select profile from corpora where name = :corpus

-- name: vectors
select passages.id, vector::real[] as vector from passages join embeddings on passage_pk = pk
where corpus = :corpus and passages.id = any (:ids) and space_id = :space_id

-- name: sampled_vectors
select vector::real[] as vector from embeddings where space_id = :space_id order by md5(digest), passage_pk limit :size

-- name: other_vectors
-- Those that passages have in other spaces.
select passages.id, space_id, embeddings.digest, vector::text as vector
from passages join embeddings on passage_pk = pk join vector_spaces s on s.id = space_id
where passages.corpus = :corpus and passages.id = any (:ids) and s.corpus = :corpus and s.model <> :model

-- name: lock
-- Be the only one who changes the corpus, until the transaction ends.
select pg_advisory_xact_lock(hashtext(:corpus))

-- name: corpus
insert into corpora (name, profile) values (:corpus, :profile) on conflict (name) do update set profile = excluded.profile

-- name: first_model
-- The first model that a corpus is embedded with serves it, until `clara index` says otherwise.
update corpora set model = :model where name = :corpus and model is null

-- name: drop
delete from passages
where corpus = :corpus and (cast(:document as text) is null or document_id = :document) and id = any (:ids)

-- name: write
insert into passages (
    corpus, id, collection, document_id, section, heading, text, indexed_text, language, territory, digest, metadata
)
select :corpus, id, collection, document_id, section, heading, text, indexed_text, language, territory, digest, metadata
from jsonb_to_recordset(cast(:rows as jsonb)) as written (
    id text, collection text, document_id text, section text, heading text[], text text, indexed_text text, language text,
    territory text, digest text, metadata jsonb
)

-- name: write_vectors
insert into embeddings (space_id, passage_pk, digest, vector)
select w.space_id, pk, w.digest, cast(w.vector as vector)
from unnest(cast(:ids as text[]), cast(:spaces as bigint[]), cast(:digests as text[]), cast(:vectors as text[]))
    as w (id, space_id, digest, vector)
join passages on corpus = :corpus and passages.id = w.id

-- name: write_names
insert into names (corpus, name, passage_pk)
select :corpus, w.name, pk from unnest(cast(:ids as text[]), cast(:names as text[])) as w (id, name)
join passages on corpus = :corpus and passages.id = w.id
on conflict do nothing

-- name: unlink
delete from links where source_pk in (select pk from passages where corpus = :corpus)

-- name: spaces
select id from vector_spaces where corpus = :corpus

-- name: drop_corpus
delete from corpora where name = :corpus

-- name: analyze
analyze passages, embeddings, postings, lexicon, names, links

-- name: take
select pg_advisory_lock(:lock, hashtext(:name))

-- name: new_space
insert into vector_spaces (id, corpus, model, dimensions) values (:id, :corpus, :model, :dimensions)
on conflict do nothing

-- name: space
select corpus, model from vector_spaces where id = :id

-- name: indexing
select pg_advisory_xact_lock(:indexing)

-- name: building
select pg_try_advisory_lock(:building, hashtext(:corpus))

-- name: held
select sum(passages) from corpora
