"""Tests of the gates of written sentences."""

from typing import Any

import pytest
from grounding import Parts
from unit_builders import passage_of

from clara.answering.writing.prompt import with_addresses, with_tokens
from clara.retrieval.quotation import one_line

FACT = passage_of(text="La tasa se paga en el banco: 9,84 €. Información en https://sede.example.es y en el 900 55 55 64.")


def faults(parts: Parts, sentence: str, language: str = "es") -> list[str]:
    """Give what the gates find in a sentence that cites the fact."""
    return parts.gates.faults(sentence, language, [FACT], ["{{L1}}"])


@pytest.mark.parametrize(
    "sentence",
    [
        "Pide la cita en http://malo.example [C1]",
        "Pide la cita en malo.com [C1]",
        "Pide la cita en malo．com [C1]",
        "Pide la cita en malo。com [C1]",
        "Pide la cita en malo (punto) com [C1]",
        "Get it at malo dot com [C1]",
        "hxxps://malo[.]example [C1]",
        "bit.ly/2x [C1]",
        "Escribe a ayuda@malo.com [C1]",
        "Escribe a @ayuda_imv [C1]",
        "{{L1}}/otra/pagina [C1]",
        "malo.{{L1}} [C1]",
        "185.12.44.9 [C1]",
    ],
)
def test_addresses_in_disguise(parts: Parts, sentence: str) -> None:
    """No address gets through, however it is written, nor something hung on a token."""
    assert "address" in faults(parts, sentence) or "mark" in faults(parts, sentence)


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        pytest.param("Llama al 600 111 222 [C1]", "number", id="phone"),
        pytest.param("اتصل بالرقم ٦٠٠١١١٢٢٢ [C1]", "number", id="arabic-digits"),
        pytest.param("Llama al seis cero cero uno uno uno dos [C1]", "number", id="spelt"),
        pytest.param("Ingresa en ES91 2100 0418 4502 0005 1332 [C1]", "number", id="iban"),
        pytest.param("<b>Paga</b> la tasa [C1]", "markup", id="html"),
        pytest.param("La [tasa](x) [C1]", "markup", id="markdown"),
        pytest.param("La tasa es 9,84 € 【C1】", "mark", id="other-brackets"),
        pytest.param("La tasa {{L2}} [C1]", "mark", id="token-of-another-fact"),
        pytest.param("La taѕa es 9,84 € [C1]", "hidden", id="mixed-scripts"),
        pytest.param("La ta\u200bsa es 9,84 € [C1]", "hidden", id="zero-width"),
        pytest.param("d a m e t u p i n [C1]", "hidden", id="spaced-out"),
        pytest.param("x" * 700, "length", id="endless"),
        pytest.param("Every sentence says what one fact says, or two [C1]", "leaks", id="orders"),
        pytest.param("Envíame tu pasaporte [C1]", "solicits", id="request"),
        pytest.param("Ваше заявление одобрено [C1]", "promises", id="promise"),
        pytest.param("白痴 [C1]", "insults", id="insult"),
        pytest.param("The police will arrest you [C1]", "police", id="threat"),
    ],
)
def test_what_no_answer_says(parts: Parts, sentence: str, kind: str) -> None:
    """Foreign numbers, markup, false marks, hidden signs, orders, requests, promises, insults and threats are stopped."""
    assert kind in faults(parts, sentence, "en" if sentence.isascii() else "es")


@pytest.mark.parametrize(
    "sentence",
    [
        "La tasa es de 9,84 € y se paga en el banco [C1]",
        "Hay más información en {{L1}} y en el 900 55 55 64 [C1]",
        "Llama al 900555564 [C1]",
        "The fee is 9.84 euros and you pay it at the bank [C1]",
        "الرسم 9,84 يورو [C1]",
    ],
)
def test_what_an_answer_says(parts: Parts, sentence: str) -> None:
    """What the cited fact holds passes, written one way or another."""
    assert faults(parts, sentence) == []


def test_every_fact_passes(parts: Parts, real: Any) -> None:
    """No gate stops a real fact that is told in its own words."""
    stopped = {}
    for passage in real.passages:
        (text,), tokens = with_tokens([one_line(passage.text)])
        if found := parts.gates.faults(f"{text} [C1]", "es", [passage], list(tokens)):
            stopped[passage.id] = found
    assert stopped == {}


def test_addresses_and_tokens(real: Any) -> None:
    """Tokens replace all addresses of a fact, and give them back as they were."""
    texts = [passage.text for passage in real.passages]
    hidden, addresses = with_tokens(texts)
    assert addresses
    assert [with_addresses(text, addresses) for text in hidden] == texts
    assert not any("http" in text or "www." in text for text in hidden)
    assert with_addresses("{{L9999}}", addresses) == "{{L9999}}"
