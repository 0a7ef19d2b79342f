"""Passages, their vectors, and the lexical index that triggers keep right.

Revision: 0001
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = """
create extension if not exists vector;

create table corpora (
    name text constraint pk_corpora primary key,
    languages text[] not null default '{}',
    passages bigint not null default 0,
    terms bigint not null default 0
);
comment on column corpora.terms is 'sum of the lengths of the passages';

create table passages (
    pk bigint generated always as identity constraint pk_passages primary key,
    corpus text not null constraint fk_passages_corpus references corpora (name) on delete cascade,
    id text not null,
    collection text not null,
    document_id text not null,
    section text not null,
    heading text[] not null,
    text text not null,
    indexed_text text not null,
    language text not null,
    territory text not null,
    digest text not null,
    metadata jsonb not null,
    created_at timestamptz not null default now(),
    constraint uq_passages_corpus_id unique (corpus, id)
);
comment on column passages.indexed_text is 'what both legs of the search see';
create index ix_passages_corpus_document_id on passages (corpus, document_id);

create table postings (
    corpus text not null,
    term text not null,
    passage_pk bigint not null,
    frequency smallint not null,
    length integer not null,
    constraint pk_postings primary key (corpus, term, passage_pk) include (frequency, length)
);
comment on column postings.length is 'terms in the passage';
create index ix_postings_passage_pk on postings (passage_pk);

create table lexicon (
    corpus text not null,
    term text not null,
    passages bigint not null,
    constraint pk_lexicon primary key (corpus, term)
);
comment on column lexicon.passages is 'document frequency';

create table vector_spaces (
    id bigint constraint pk_vector_spaces primary key,
    corpus text not null constraint fk_vector_spaces_corpus references corpora (name) on delete cascade,
    model text not null,
    dimensions integer not null,
    constraint uq_vector_spaces_corpus_model unique (corpus, model)
);
comment on column vector_spaces.id is 'computed from corpus and model';

create table embeddings (
    space_id bigint not null constraint fk_embeddings_space_id references vector_spaces (id) on delete cascade,
    passage_pk bigint not null constraint fk_embeddings_passage_pk references passages (pk) on delete cascade,
    digest text not null,
    vector vector not null,
    constraint pk_embeddings primary key (space_id, passage_pk),
    constraint ck_embeddings_unit_length check (vector_norm(vector) between 0.99 and 1.01)
);
comment on column embeddings.vector is 'any size: one column holds the vectors of every model';
comment on column embeddings.digest is 'of the text that was embedded';
create index ix_embeddings_passage_pk on embeddings (passage_pk);
"""

# Questions and passages must be cut into terms by the same function. `unaccent` before the Spanish stemmer would do harm
# (años -> anos); the stemmer folds acute accents itself. Languages without a stemmer are lower-cased only.
# `rows 10` tells the planner how few terms a question has; with the default of 1,000 it scans all postings instead of looking
# each term up.
LEXEMES = """
create function lexical_configuration(language text) returns regconfig
language sql immutable strict parallel safe as $$
    select case language
        when 'es' then 'pg_catalog.spanish'::regconfig
        when 'ca' then 'pg_catalog.catalan'::regconfig
        when 'en' then 'pg_catalog.english'::regconfig
        when 'fr' then 'pg_catalog.french'::regconfig
        when 'pt' then 'pg_catalog.portuguese'::regconfig
        when 'ro' then 'pg_catalog.romanian'::regconfig
        when 'ru' then 'pg_catalog.russian'::regconfig
        when 'ar' then 'pg_catalog.arabic'::regconfig
        else 'pg_catalog.simple'::regconfig
    end
$$;

create function lexemes(language text, content text) returns table (term text, frequency integer)
language sql stable strict parallel safe rows 10 as $$
    select lexeme, coalesce(array_length(positions, 1), 1)
      from unnest(to_tsvector(lexical_configuration(language), content))
$$;
"""

TRIGGERS = """
create function index_passages_after_insert() returns trigger language plpgsql as $$
begin
    with terms as (
        select n.corpus, n.pk, l.term, l.frequency, sum(l.frequency) over (partition by n.pk) as length
          from added n cross join lateral lexemes(n.language, n.indexed_text) l
    ),
    written as (
        insert into postings (corpus, term, passage_pk, frequency, length)
        select corpus, term, pk, least(frequency, 32767), length from terms
        returning corpus, term, frequency
    ),
    counted as (
        insert into lexicon as x (corpus, term, passages)
        select corpus, term, count(*) from written group by corpus, term order by corpus, term
        on conflict (corpus, term) do update set passages = x.passages + excluded.passages
    )
    update corpora c
       set passages = c.passages + a.passages,
           terms = c.terms + coalesce((select sum(w.frequency) from written w where w.corpus = c.name), 0),
           languages = (select array_agg(distinct l order by l) from unnest(c.languages || a.languages) l)
      from (select corpus, count(*) as passages, array_agg(distinct language) as languages from added group by corpus) a
     where c.name = a.corpus;
    return null;
end $$;

create function index_passages_after_delete() returns trigger language plpgsql as $$
begin
    with dropped as (
        delete from postings p using removed r where p.passage_pk = r.pk returning p.corpus, p.term, p.frequency
    ),
    counted as (
        update lexicon x
           set passages = x.passages - d.passages
          from (select corpus, term, count(*) as passages from dropped group by corpus, term) d
         where x.corpus = d.corpus and x.term = d.term
    )
    update corpora c
       set passages = c.passages - a.passages,
           terms = c.terms - coalesce((select sum(d.frequency) from dropped d where d.corpus = c.name), 0)
      from (select corpus, count(*) as passages from removed group by corpus) a
     where c.name = a.corpus;
    delete from lexicon where passages <= 0 and corpus in (select corpus from removed);
    return null;
end $$;

create function refuse_reindexing() returns trigger language plpgsql as $$
begin
    raise exception 'the indexed text of a passage never changes in place: delete the passage and insert it again';
end $$;

create trigger index_passages_after_insert after insert on passages
    referencing new table as added for each statement execute function index_passages_after_insert();
create trigger index_passages_after_delete after delete on passages
    referencing old table as removed for each statement execute function index_passages_after_delete();
create trigger refuse_reindexing before update of corpus, indexed_text, language on passages
    for each row when (old.* is distinct from new.*) execute function refuse_reindexing();
"""


def upgrade() -> None:
    for part in (TABLES, LEXEMES, TRIGGERS):
        op.execute(part)


def downgrade() -> None:
    op.execute("drop table embeddings, vector_spaces, lexicon, postings, passages, corpora")
    op.execute("drop function index_passages_after_insert, index_passages_after_delete, refuse_reindexing")
    op.execute("drop function lexemes, lexical_configuration")
