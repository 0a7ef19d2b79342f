"""Each act of the audit log carries a digest over itself and over the digest before it; the log cannot be emptied either.

The previous release's processes may go on: the digest is made by the database.

Revision: 0011, after 0010
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

CHAIN = """
alter table audit_log add column digest BYTEA;
comment on column audit_log.digest is 'SHA-256 of the digest before it and of this act: a change is seen from here on';
create function audit_digest(previous bytea, act audit_log) returns bytea language sql stable as $$
    select sha256(previous || convert_to(jsonb_build_array(
        act.id, to_char(act.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), act.actor, act.act, act.subject, act.outcome,
        act.details
    )::text, 'UTF8'))
$$;
alter table audit_log disable trigger added_only;
do $$
declare
    act audit_log;
    previous bytea := '';
begin
    for act in select * from audit_log order by id loop
        previous := audit_digest(previous, act);
        update audit_log set digest = previous where id = act.id;
    end loop;
end $$;
alter table audit_log enable trigger added_only;
alter table audit_log alter column digest set not null;
create function chain_act() returns trigger language plpgsql as $$
declare
    last audit_log;
begin
    -- One after the other, and numbered in that order: whoever comes later must see the digest before.
    perform pg_advisory_xact_lock(hashtext('audit_log'));
    select * into last from audit_log order by id desc limit 1;
    new.id := coalesce(last.id, 0) + 1;
    new.digest := audit_digest(coalesce(last.digest, ''), new);
    return new;
end $$;
create trigger chained before insert on audit_log for each row execute function chain_act();
create trigger never_emptied before truncate on audit_log for each statement execute function refuse_change();
"""


def upgrade() -> None:
    op.execute(CHAIN)


def downgrade() -> None:
    op.execute("""
        drop trigger never_emptied on audit_log;
        drop trigger chained on audit_log;
        drop function chain_act;
        drop function audit_digest;
        alter table audit_log drop column digest;
    """)
