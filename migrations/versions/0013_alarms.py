"""Finding the turns in which danger was heard, so that this is forgotten when the words are.

The previous release reads and writes turns as before, so its processes may go on during an upgrade.

Revision: 0013, after 0012
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("create index ix_turns_danger on turns (created_at) where trace ? 'danger'")


def downgrade() -> None:
    op.execute("drop index ix_turns_danger")
