"""Forms whose length is not known beforehand: proxies pass them on in chunks, and Twilio may."""

from pathlib import Path

import psycopg
import pytest
from tests.journeys.listening import start_listening
from tests.journeys.talking import FORMS, signature

REPORT = "MessageSid=SM0123456789abcdef0123456789abcdef&MessageStatus=delivered&AccountSid=AC11111111111111111111111111111111"


def test_signed_forms_in_chunks(knowledge_url: str, tmp_path: Path) -> None:
    """Each kind of form is stored as if it had come with its length; reports are taken, and forgeries are not."""
    web = start_listening(knowledge_url, tmp_path / "spool")
    try:
        assert {name: web.post_in_chunks(form) for name, form in FORMS.items()} == dict.fromkeys(FORMS, 200)
        with psycopg.connect(knowledge_url) as connection:
            stored = connection.execute("select count(*), count(body), bool_or(body like '%field%') from inbox").fetchone()
        assert stored == (len(FORMS), sum("Body=" in form for form in FORMS.values()), True)

        form = FORMS["wa_text"].replace("SMtext1", "SMtext2")
        assert web.post_in_chunks(form, "/webhook", "Trailer: X-Later", "TE: trailers") == 200
        assert web.post_in_chunks(REPORT, "/webhook/status?reply=1") == 204
        assert web.post_in_chunks(form, "/webhook/fallback") == 200

        genuine = signature(f"{web.url}/webhook", form)
        head = web.head(form, "/webhook", "Transfer-Encoding: chunked")
        forged = head.replace(genuine.encode(), b"A" * 27 + b"=")
        assert web.send(forged + b"%x\r\n%s\r\n0\r\n\r\n" % (len(form), form.encode())) == 403
    finally:
        web.close()


@pytest.mark.parametrize("size", [256 * 1024, 256 * 1024 + 1])
def test_the_largest_form(knowledge_url: str, tmp_path: Path, size: int) -> None:
    """The bound holds for forms in chunks: of a kilobyte, for tens of thousands would race against the time to read."""
    web = start_listening(knowledge_url, tmp_path / "spool")
    try:
        form = FORMS["wa_text"].replace("Hello", "Hello" + "x" * (size - len(FORMS["wa_text"])))
        assert len(form) == size
        assert web.post_in_chunks(form, size=1000) == (200 if size == 256 * 1024 else 413)
    finally:
        web.close()
