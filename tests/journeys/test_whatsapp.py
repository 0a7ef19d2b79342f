"""Signed webhook in, sent reply out: the main job on real input, through PostgreSQL, the job queue and Twilio's client."""

import re
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from tests.failing_twilio import FaultMode, TwilioFault
from tests.journeys.talking import FORMS, PUBLIC_URL, Clara, signature, until


@pytest.mark.parametrize(
    ("question", "procedure", "checked"),
    [
        pytest.param("¿Cuánto cuesta el NIE?", "*NIE (número de identidad de extranjero)*", "comprobado el", id="es"),
        pytest.param("كيف أحصل على رقم NIE؟", "(NIE)*", "تم التحقق", id="ar"),
        pytest.param("Combien coûte le NIE ?", "*NIE", "vérifié le", id="fr"),
    ],
)
def test_a_question_is_answered_with_citations(clara: Clara, question: str, procedure: str, checked: str) -> None:
    """The reply names the procedure, marks every fact, and gives source and date for every mark, each page of a day once."""
    sent = clara.say(question, "SM1")
    assert sent.sender == "whatsapp:+15555550100"
    assert sent.recipient == "whatsapp:+34600000001"
    assert procedure in sent.body
    marks = re.findall(r"^• .*(\[C\d+\])$", sent.body, re.MULTILINE)
    sources = re.findall(r"^((?:\[C\d+\] )+).*(https?://\S+) \((.*)\)(?: ⚠️.*)?$", sent.body, re.MULTILINE)
    assert marks
    assert sorted(" ".join(cited for cited, _, _ in sources).split()) == sorted(marks)
    assert len({(page, day) for _, page, day in sources}) == len(sources)
    assert all(checked in date for _, _, date in sources)
    assert len(sent.body) <= 1_600
    until(lambda: clara.rows("select tier, status, jsonb_array_length(citations) from turns") != [])
    assert clara.rows("select tier, status, jsonb_array_length(citations) from turns") == [("pgvector", "answered", len(marks))]


def test_only_the_first_reply_introduces_clara(clara: Clara) -> None:
    """The first reply says that Clara is automatic and how to reach a person; the second does not repeat it."""
    notice = "asistente automático (no una persona)"
    first, second = clara.say("¿Cuánto cuesta el NIE?", "SM1"), clara.say("¿Quién tiene derecho a la TIE?", "SM2")
    assert notice in first.body
    assert "servicios sociales" in first.body
    assert notice not in second.body
    other = clara.say("¿Cuánto cuesta el NIE?", "SM3", sender="whatsapp:+34600000002")
    assert notice in other.body


def test_the_language_stays_with_the_conversation(clara: Clara) -> None:
    """A word that could be any language is answered in the language of the conversation."""
    clara.say("How much is the NIE fee?", "SM1")
    assert "NIE" in clara.say("NIE", "SM2").body
    assert clara.rows("select language from turns order by created_at") == [("en",), ("en",)]


@pytest.mark.parametrize(
    ("form", "says"),
    [
        pytest.param("wa_text", "", id="text in English"),
        pytest.param("wa_image", "Todavía no puedo leer fotos", id="image"),
        pytest.param("wa_voice", "Todavía no puedo escuchar notas de voz", id="voice note without Body"),
        pytest.param("wa_location_real", "Todavía no puedo leer fotos, documentos ni ubicaciones", id="location"),
        pytest.param("wa_reply_real", "", id="reply to a message"),
    ],
)
def test_every_kind_of_form_gets_a_reply(clara: Clara, form: str, says: str) -> None:
    """Each real form of WhatsApp is acknowledged and answered."""
    assert clara.post(FORMS[form]) == 200
    sent = clara.reply(0)
    assert sent.recipient == "whatsapp:+15555550101"
    assert says in sent.body


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x" * 10_000, id="10,000 characters"),
        pytest.param("¿Cuánto cuesta el NIE? " * 435, id="10,000 characters of a question"),
        pytest.param("NIE\x00 coste", id="NUL"),
        pytest.param("NIE \ud800 coste", id="lone surrogate"),
        pytest.param("\ufdfa" * 200, id="200 x U+FDFA"),
        pytest.param("😀😀😀", id="emoji"),
        pytest.param("", id="empty"),
        pytest.param("' or 1=1; drop table passages; --", id="SQL"),
        pytest.param("{procedure} %s {0.__class__}", id="format strings"),
        pytest.param("\u202e\u200b\u2066NIE", id="hidden characters"),
    ],
)
def test_hostile_texts_get_a_reply(clara: Clara, body: str) -> None:
    """Nothing that a person can type breaks the journey."""
    sent = clara.say(body, "SM1")
    assert 0 < len(sent.body) <= 1_600


def test_a_sender_without_a_phone_number_is_served(clara: Clara) -> None:
    """WhatsApp user names have no number at all."""
    assert clara.say("¿Cuánto cuesta el NIE?", "SM1", sender="whatsapp:US.1234567890").recipient == "whatsapp:US.1234567890"


def test_a_duplicate_gets_one_reply(clara: Clara) -> None:
    """The same MessageSid, delivered three times, is answered once."""
    form = urlencode({"From": "whatsapp:+1", "To": "whatsapp:+2", "MessageSid": "SM1", "Body": "¿Cuánto cuesta el NIE?"})
    assert [clara.post(form) for _ in range(3)] == [200, 200, 200]
    clara.reply(0)
    clara.say("gracias", "SM2", sender="whatsapp:+1")
    assert len(clara.twilio.taken) == 2


@pytest.mark.parametrize(
    ("change", "signed"),
    [
        pytest.param(lambda form: form, "", id="unsigned"),
        pytest.param(lambda form: form, "AAAAAAAAAAAAAAAAAAAAAAAAAAA=", id="wrong signature"),
        pytest.param(lambda form: form.replace("NIE", "TIE"), None, id="altered body"),
        pytest.param(lambda form: form.replace("%2B34600000001", "%2B34600000002"), None, id="altered sender"),
        pytest.param(lambda form: form + "&NumMedia=1", None, id="added field"),
    ],
)
def test_forged_forms_are_refused_and_leave_nothing(clara: Clara, change: object, signed: str | None) -> None:
    """403, no row, no job, no reply."""
    form = urlencode({"From": "whatsapp:+34600000001", "To": "whatsapp:+1", "MessageSid": "SM1", "Body": "NIE"})
    genuine = signature(f"{PUBLIC_URL}/webhook", form)
    assert clara.post(change(form), signed=genuine if signed is None else signed) == 403  # type: ignore[operator]
    assert clara.rows("select (select count(*) from inbox) + (select count(*) from procrastinate_jobs)") == [(0,)]


def test_a_form_signed_for_another_address_is_refused(clara: Clara) -> None:
    """The signature covers the configured public address, whatever the request's headers say."""
    form = urlencode({"From": "whatsapp:+1", "To": "whatsapp:+2", "MessageSid": "SM1", "Body": "NIE"})
    assert clara.post(form, signed=signature("https://localhost/webhook", form)) == 403


def test_signed_nonsense_is_a_clear_error(clara: Clara) -> None:
    """A genuine form that is no message is refused with what it lacks."""
    assert clara.post("Hello=World") == 400


def test_delivery_reports_close_the_outbox(clara: Clara) -> None:
    """The stand-in calls no address of ours here, so the report is posted by hand; forged ones change nothing."""
    sent = clara.say("¿Cuánto cuesta el NIE?", "SM1")
    until(lambda: clara.rows("select status from outbox") == [("sent",)])
    form = urlencode({"MessageSid": sent.sid, "MessageStatus": "delivered"})
    assert clara.post(form, "/webhook/status?reply=1", signed="forged") == 403
    assert clara.rows("select status from outbox") == [("sent",)]
    assert clara.post(form, "/webhook/status?reply=2") == 204
    assert clara.rows("select status from outbox") == [("sent",)]
    assert clara.post(form, "/webhook/status?reply=1") == 204
    assert clara.rows("select status from outbox") == [("delivered",)]


def test_a_twilio_outage_delays_the_reply(clara: Clara) -> None:
    """A reply that Twilio could not take now is sent later, once, without being written again."""
    clara.twilio.faults.extend([(500, 20500), (429, 20429)])
    sent = clara.say("¿Cuánto cuesta el NIE?", "SM1")
    assert "NIE" in sent.body
    until(lambda: clara.rows("select status from outbox") == [("sent",)])
    assert len(clara.twilio.taken) == 1


def test_a_final_refusal_is_recorded(clara: Clara) -> None:
    """A number that Twilio will never reach ends the turn with its code."""
    clara.twilio.faults.append((400, 63024))
    form = urlencode({"From": "whatsapp:+1", "To": "whatsapp:+2", "MessageSid": "SM1", "Body": "NIE"})
    assert clara.post(form) == 200
    until(lambda: clara.rows("select status, error_code from outbox") == [("failed", "63024")])
    assert clara.twilio.taken == []


def test_health_names_each_part(clara: Clara) -> None:
    """Database and worker answer, no message waits for long, and no job is expected that does not come."""
    until(lambda: clara.web.get("/health").status_code == 200)
    assert clara.web.get("/health").json["parts"].keys() == {"database", "worker", "delivery", "jobs"}


def test_the_chat_page_is_not_served_on_whatsapp(clara: Clara) -> None:
    """The page without a login exists in the local channel only."""
    assert clara.web.get("/").status_code == 404
    assert clara.web.post("/chat/messages", json={"conversation": "c", "text": "NIE"}).status_code == 404


def test_a_reply_whose_answer_was_lost_is_not_sent_twice(clara: Clara) -> None:
    """Twilio took it and its answer never came: it is found in Twilio's list, and recorded under its id."""
    clara.twilio.faults.append(TwilioFault(FaultMode.ACCEPT_THEN_CUT))
    sent = clara.say("¿Cuánto cuesta el NIE?", "SM1")
    until(lambda: clara.rows("select status, provider_sid, attempted_at from outbox") == [("sent", sent.sid, None)])
    until(lambda: clara.rows("select count(*) from procrastinate_jobs") == [(0,)])
    assert len(clara.twilio.taken) == 1


def test_danger_passes_the_limits(start: Callable[..., Clara]) -> None:
    """Who wrote too much is told so once and then not answered; who is in danger is told whom to call all the same."""
    clara = start(clara_sender_per_minute=1)
    clara.say("hola", "SM1")
    sent = clara.say("mi marido me esta pegando, ayuda", "SM2")
    assert "*016*" in sent.body
    assert clara.rows("select status from turns order by created_at") == [("command",), ("urgent",)]


def test_a_follow_up_is_understood(clara: Clara) -> None:
    """What the last turn was about is read from the database, and a number chooses what was offered."""
    clara.say("que es el bono social electrico", "SM1")
    assert "Bono social" in clara.say("y cuanto tarda?", "SM2").body
    menu = clara.say("menú", "SM3")
    assert "1. " in menu.body
    assert clara.rows("select jsonb_array_length(trace->'options') from turns where status = 'command'") == [(10,)]
    topic = clara.say("1", "SM4")
    first = topic.body.split("1. ")[1].splitlines()[0]
    assert first in clara.say("1", "SM5").body
