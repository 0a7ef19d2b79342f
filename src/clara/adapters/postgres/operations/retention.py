"""What is forgotten as time goes by: receipts of erasures, texts, figures. Bounded, and safe in several processes at once."""

from typing import Final

from sqlalchemy import Connection, text

from clara.answering.privacy.rights import FIGURE_DAYS, TEXT_DAYS

# A bite at a time. At one a minute 7.2 million rows a day go: what the rated 80 questions a second leave in a day, 6.9 million.
AT_ONCE: Final = 5_000
# Twilio reports a failure for its rate within seconds of taking a message; until then the receipt may have to be sent again.
REPORTED_WITHIN_SECONDS: Final = 45
# Whoever does not want to be remembered is not kept for a month either.
UNREMEMBERED_TEXT_DAYS: Final = 1

# The receipt of an erasure is out: what led to the person goes, and the words, which may repeat what a voice note said.
SETTLE_RECEIPTS: Final = text("""
with settled as (
    select id from inbox held
    where pseudonym = '' and (address is not null or sender is not null)
        and not exists (
            select from outbox
            where inbox_id = held.id
                and (
                    status = 'pending'
                    or (
                        status not in ('delivered', 'read', 'failed', 'undelivered', 'canceled')
                        and updated_at > now() - make_interval(secs => :reported_within)
                    )
                )
        )
    order by id limit :at_once for update skip locked
),
receipts as (
    update outbox set body = '', superseded_sids = '{}' from settled where outbox.inbox_id = settled.id
)
update inbox set address = null, sender = null, recipient = null from settled where inbox.id = settled.id
""")
# Whose address is still there may still have to be answered.
FORGET_MESSAGES: Final = text("""
update inbox set body = null
where id in (
    select id from inbox
    where body is not null and created_at < now() - make_interval(days => :days) and address is null and sender is null
    order by created_at limit :at_once for update skip locked
)
""")
FORGET_REPLIES: Final = text("""
update outbox set body = ''
where id in (
    select id from outbox
    where body <> '' and created_at < now() - make_interval(days => :days) and status <> 'pending'
    order by created_at limit :at_once for update skip locked
)
""")
FORGET_UNREMEMBERED_MESSAGES: Final = text("""
update inbox set body = null
where id in (
    select id from inbox join consents using (pseudonym)
    where not memory and body is not null and created_at < now() - make_interval(days => :days)
        and address is null and sender is null
    limit :at_once for update of inbox skip locked
)
""")
FORGET_UNREMEMBERED_REPLIES: Final = text("""
update outbox set body = ''
where id in (
    select outbox.id from outbox join inbox on inbox.id = outbox.inbox_id join consents using (pseudonym)
    where not memory and outbox.body <> '' and outbox.created_at < now() - make_interval(days => :days) and status <> 'pending'
    limit :at_once for update of outbox skip locked
)
""")
# What was heard of danger goes with the words: that somebody was helped at once and with what, or was asked about it. The steps
# of the turn go too: they tell where it ended.
FORGET_ALARMS: Final = text("""
update turns set status = 'command', trace = trace - 'danger' - 'level' - 'options', timings_ms = '{}'
where inbox_id in (
    select inbox_id from turns
    where trace ? 'danger' and created_at < now() - make_interval(days => :days)
    order by created_at limit :at_once for update skip locked
)
""")
FORGET_UNREMEMBERED_ALARMS: Final = text("""
update turns set status = 'command', trace = trace - 'danger' - 'level' - 'options', timings_ms = '{}'
where inbox_id in (
    select inbox_id from turns join consents using (pseudonym)
    where not memory and trace ? 'danger' and turns.created_at < now() - make_interval(days => :days)
    limit :at_once for update of turns skip locked
)
""")
# The turn goes with its ratings; of the message stays what stops a replay, and nothing says whose it was.
FORGET_FIGURES: Final = text("""
with old as (
    select inbox_id from turns
    where created_at < now() - make_interval(days => :days)
        and not exists (select from outbox where inbox_id = turns.inbox_id and status = 'pending')
    order by created_at limit :at_once for update skip locked
),
turned as (
    delete from turns using old where turns.inbox_id = old.inbox_id
),
sent as (
    update outbox set body = '' from old where outbox.inbox_id = old.inbox_id and body <> ''
)
update inbox set pseudonym = '', body = null, media_types = '{}', recordings = '{}', fence = fence + 1
from old where inbox.id = old.inbox_id
""")
FORGET_CHOICES: Final = text("""
delete from consents
where pseudonym in (
    select pseudonym from consents held
    where decided_at < now() - make_interval(days => :days)
        and not exists (select from turns where turns.pseudonym = held.pseudonym)
    limit :at_once for update skip locked
)
""")


def settle_receipts(connection: Connection) -> int:
    """Forget the address of who was erased, once the receipt is out; give how many."""
    told = {"reported_within": REPORTED_WITHIN_SECONDS, "at_once": AT_ONCE}
    return connection.execute(SETTLE_RECEIPTS, told).rowcount


def forget_texts(connection: Connection) -> int:
    """Forget what was written, answered and heard a month ago; a day ago, of who wants no memory. Give how many."""
    old = {"days": TEXT_DAYS, "at_once": AT_ONCE}
    unremembered = {"days": UNREMEMBERED_TEXT_DAYS, "at_once": AT_ONCE}
    forgetting = (
        (FORGET_MESSAGES, old),
        (FORGET_REPLIES, old),
        (FORGET_ALARMS, old),
        (FORGET_UNREMEMBERED_ALARMS, unremembered),
        (FORGET_UNREMEMBERED_MESSAGES, unremembered),
        (FORGET_UNREMEMBERED_REPLIES, unremembered),
    )
    return sum(connection.execute(statement, told).rowcount for statement, told in forgetting)


def forget_figures(connection: Connection) -> int:
    """Forget whose the turns of a year ago were, all that is known of them, and choices of who wrote none since."""
    told = {"days": FIGURE_DAYS, "at_once": AT_ONCE}
    return sum(connection.execute(statement, told).rowcount for statement in (FORGET_FIGURES, FORGET_CHOICES))
