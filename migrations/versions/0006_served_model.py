"""Which model's vectors a corpus is searched by, so that another can be built beside it and take over in one statement.

The previous release neither reads nor writes the column, so its processes may go on during an upgrade.

Revision: 0006, after 0005
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Until now a corpus had one space, unless somebody changed the program: then it is not known here which one is meant.
CHANGES = """
alter table corpora add column model text;
comment on column corpora.model is 'whose vectors are searched; empty: nothing was embedded yet';
update corpora c
   set model = (select max(s.model) from vector_spaces s where s.corpus = c.name having count(*) = 1);
alter table corpora
    add constraint fk_corpora_model foreign key (name, model) references vector_spaces (corpus, model);
"""


# A vector of 768 dimensions takes 3 kB, and what is above 2 kB PostgreSQL moves out of the row: then a scan fetches each vector
# from elsewhere, which took five times as long (2,500 passages). `main` moves out only what fits on no page. Vectors of 384
# dimensions were in their rows all the time, so nothing is rewritten.
# The digest stays, too: it would be moved out first.
STORAGE = "alter table embeddings alter column vector set storage {vector}, alter column digest set storage {digest}"


def upgrade() -> None:
    op.execute(CHANGES)
    op.execute(STORAGE.format(vector="main", digest="main"))


def downgrade() -> None:
    op.execute("alter table corpora drop constraint fk_corpora_model, drop column model")
    op.execute(STORAGE.format(vector="external", digest="extended"))
