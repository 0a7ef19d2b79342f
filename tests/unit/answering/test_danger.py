"""Tests of what recognises danger and says whom to call."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.languages import LANGUAGES, TAUGHT

from clara.answering.safety.danger import PIECE, SHARED, Alarm, AlarmLevel, Danger, DangerKind, Thresholds, pieces, read_danger
from clara.answering.tool_factory import build_danger
from clara.data_files import DataError
from clara.knowledge.hotlines import read_hotlines
from clara.language.phrases import Phrases
from clara.retrieval.classifier import NONE, TextClassifier
from clara_lab.training.classifier import digest_of, labelled, read_examples
from clara_lab.training.danger import examples_of

DATA = Path(__file__).parents[3] / "data"
DANGER = build_danger(DATA)
# The numbers and addresses of the table, and nothing else.
LINES = read_hotlines(DATA).lines
NUMBERS = {line.digits for line in LINES}
ADDRESS = re.compile(r"[\w.-]+@[\w.-]*\w", re.ASCII)
ADDRESSES = {line.mail for line in LINES if line.mail}
# Counts that are no phone: hours a day, languages that 016 speaks.
COUNTS = {"24", "53"}
MAX_TEXT = 1_200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the data folder with the texts, the phrases and the schemas alone."""
    for part in ("danger", "languages", "schema"):
        shutil.copytree(DATA / part, tmp_path / part, ignore=shutil.ignore_patterns("examples"))
    shutil.copy(DATA / "hotlines.json", tmp_path)
    return tmp_path


class Opinion(TextClassifier):
    """A model whose opinion of every text is given."""

    def __init__(self, shares: dict[str, float]) -> None:
        levels = {"hint": 0.1, "likely": 0.5, "sure": 0.9}
        self.about = {"thresholds": {"with_vector": levels, "by_letters": {**levels, "likely": 0.6}}}
        self._given = {**dict.fromkeys(DangerKind, 0.0), **shares}

    def shares(self, text: str, vector: Any = None) -> dict[str, float]:
        del text, vector
        return {NONE: 1 - sum(self._given.values()), **self._given}


def hearing(**shares: float) -> Danger:
    """Give a danger whose model is of this opinion, without phrases."""
    return Danger(Opinion(shares), Phrases([]), Phrases([]), DANGER.helps)


@pytest.mark.parametrize(
    ("shares", "heard"),
    [
        ({}, Alarm()),
        ({"suicide": 0.2}, Alarm(AlarmLevel.HINT, (DangerKind.SUICIDE,))),
        ({"suicide": 0.55}, Alarm(AlarmLevel.HINT, (DangerKind.SUICIDE,))),
        ({"suicide": 0.7}, Alarm(AlarmLevel.LIKELY, (DangerKind.SUICIDE,))),
        ({"suicide": 0.95}, Alarm(AlarmLevel.SURE, (DangerKind.SUICIDE,))),
        ({"suicide": 0.4, "minor": 0.3}, Alarm(AlarmLevel.LIKELY, (DangerKind.SUICIDE, DangerKind.MINOR))),
        ({"suicide": 0.6, "emergency": 0.1}, Alarm(AlarmLevel.LIKELY, (DangerKind.SUICIDE,))),
        ({"violence": 0.55, "emergency": 0.4}, Alarm(AlarmLevel.SURE, (DangerKind.EMERGENCY, DangerKind.VIOLENCE))),
    ],
)
def test_levels_and_order(shares: dict[str, float], heard: Alarm) -> None:
    """The probability of any danger gives the level; the likeliest kind leads, an emergency already when it is near."""
    assert hearing(**shares).hear("algo") == heard


def test_the_vector_has_thresholds_of_its_own() -> None:
    """By letters .55 is a hint; with the vector it is likely."""
    assert hearing(suicide=0.55).hear("algo", (0.1, 0.2)).level is AlarmLevel.LIKELY


def test_phrases_can_only_add() -> None:
    """What leaves no doubt is sure wherever it stands; a cry alone is likely; neither takes away what the model hears."""
    phrases, alone = Phrases([("voy a matarme", "suicide")]), Phrases([("socorro", "emergency")])
    calm = replace(hearing(), phrases=phrases, alone=alone)
    assert calm.hear("mañana, VOY A MATARME.") == Alarm(AlarmLevel.SURE, (DangerKind.SUICIDE,))
    assert calm.hear("¡Socorro!") == Alarm(AlarmLevel.LIKELY, (DangerKind.EMERGENCY,))
    assert calm.hear("la calle Socorro") == Alarm()
    alarmed = replace(hearing(minor=0.95), phrases=phrases, alone=alone)
    assert alarmed.hear("voy a matarme") == Alarm(AlarmLevel.SURE, (DangerKind.MINOR, DangerKind.SUICIDE))
    assert alarmed.hear("socorro").level is AlarmLevel.SURE


@pytest.mark.parametrize("sign", ["🔪", "mira 🔫", "🆘🆘"])
def test_a_sign_is_likely(sign: str) -> None:
    """A knife without a word may be all that somebody can send."""
    assert hearing().hear(sign) == Alarm(AlarmLevel.LIKELY, (DangerKind.EMERGENCY,))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "¿cuánto cuesta el NIE?",
        "necesito cita para empadronarme",
        "how do I renew my TIE?",
        "什么时候可以申请失业金？",
    ],
)
def test_ordinary_questions_are_at_rest(text: str) -> None:
    """By the letters alone."""
    assert not DANGER.hear(text).raised


def test_one_word_of_danger_in_the_middle_of_a_page() -> None:
    """A page is read in pieces, so that what stands in its middle counts as much as at its end."""
    page = "ayer fui a la oficina a preguntar por el padrón y me dijeron que volviera otro día con el contrato. " * 20
    for text in (page + "me voy a suicidar esta noche. " + page, page + " mi marido me está pegando ahora mismo"):
        assert DANGER.hear(text[:4_096]).level is AlarmLevel.SURE, text[2_000:2_040]


@pytest.mark.parametrize("size", [0, 1, PIECE, PIECE + 1, 2 * PIECE, 1_234, 4_096])
def test_every_stretch_of_a_long_text_is_in_a_piece(size: int) -> None:
    """Wherever a cry stands, one piece holds it whole; both ends come first, and none is longer than a question."""
    text = "".join(chr(0x4E00 + place) for place in range(size))
    cut = pieces(text)
    assert all(len(piece) <= PIECE for piece in cut)
    assert text.startswith(cut[0])
    assert text.endswith(cut[min(1, len(cut) - 1)])
    stretches = {text[start : start + SHARED] for start in range(max(1, size - SHARED + 1))}
    assert all(any(stretch in piece for piece in cut) for stretch in stretches)
    assert len(cut) <= size // (PIECE - SHARED) + 1


def test_the_model_was_trained_on_the_examples_of_today() -> None:
    """After a change of examples or typical questions, `python -m clara_lab.training.danger` must be run again."""
    assert DANGER.model.about["trained_on"] == digest_of(labelled(examples_of(DATA)))


def test_examples_are_by_many_hands() -> None:
    """At least 12,000 in ten languages, near half of them danger, none of them twice."""
    examples = read_examples(DATA / "danger" / "examples")
    assert len(examples) >= 12_000
    assert len({one.text for one in examples}) == len(examples)
    assert {one.language for one in examples} == set(TAUGHT)
    assert 0.4 < np.mean([bool(one.kinds) for one in examples]) < 0.6


def test_thresholds_are_in_order() -> None:
    """A level that is surer begins later."""
    for held in (DANGER.with_vector, DANGER.by_letters):
        assert 0 < held.hint < held.likely < held.sure < 1
    assert Thresholds(0.1, 0.5, 0.9).level(0.5) is AlarmLevel.LIKELY


@given(st.text(max_size=400))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read(text: str) -> None:
    """No text breaks the reading, and the same text always means the same."""
    assert DANGER.hear(text) == DANGER.hear(text)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["a", "me ", "no quiero ", "m a t a r ", "杀", "1", "\u0301", "ﷺ", "mequiero"])
def test_nothing_takes_long(piece: str) -> None:
    """The longest message of one piece is read to the end: nothing is tried in all combinations."""
    assert isinstance(DANGER.hear((piece * 4_096)[:4_096]), Alarm)


@pytest.mark.parametrize("language", LANGUAGES)
def test_replies_are_short_and_say_known_numbers_only(language: str) -> None:
    """Every reply fits, leads with a number or whom to ask, and has no number or address but those of the table."""
    for lead in DangerKind:
        reply = DANGER.reply((lead, *(kind for kind in DangerKind if kind is not lead)), language)
        assert len(reply) <= MAX_TEXT
        assert set(ADDRESS.findall(reply)) <= ADDRESSES
        digits = re.findall(r"\d[\d ]*\d", ADDRESS.sub("", reply))
        assert {number.replace(" ", "") for number in digits} <= NUMBERS | COUNTS
        assert "112" in reply


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_violence_and_its_like_warn_of_the_call_list(language: str) -> None:
    """Whoever is watched by somebody at home hears that a call leaves a trace."""
    warned = {kind for kind in DangerKind if "🔒" in DANGER.reply((kind,), language)}
    assert warned == {DangerKind.MINOR, DangerKind.VIOLENCE, DangerKind.TRAFFICKING}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda document: document.pop("phrases"), '"phrases" is a required property'),
        (lambda document: document["phrases"]["sure"].update(boredom=["x"]), "'boredom' was unexpected"),
        (lambda document: document["texts"]["suicide"].update(line="x" * 200), "$.texts.suicide.line: is longer than 120"),
        (lambda document: document["texts"]["minor"].update(line="{line.dog}"), "$.texts.minor.line: {line.dog} is not in"),
    ],
)
def test_faults_are_named(folder: Path, change: Callable[[dict[str, Any]], Any], fault: str) -> None:
    """A fault is told with its file."""
    file = folder / "languages" / "es" / "danger.json"
    document = json.loads(file.read_text("utf-8"))
    change(document)
    file.write_text(json.dumps(document), "utf-8")
    with pytest.raises(DataError, match=r"languages/es/danger\.json") as error:
        read_danger(folder, DANGER.model)
    assert fault in str(error.value)


def test_a_missing_file_is_named(folder: Path) -> None:
    """Rules without a language are no rules: danger in it would pass."""
    (folder / "languages" / "uk" / "danger.json").unlink()
    with pytest.raises(DataError, match=r"languages/uk/danger\.json: file: cannot be read"):
        read_danger(folder, DANGER.model)
    shutil.rmtree(folder / "schema")
    with pytest.raises(DataError, match="cannot be read"):
        read_danger(folder, DANGER.model)


def test_a_model_of_something_else_is_named(folder: Path) -> None:
    """A damaged model, and one without thresholds, name the file and the remedy."""
    shutil.copy(DATA / "scope" / "topics.npz", folder / "danger" / "model.npz")
    with pytest.raises(DataError, match=r"danger/model\.npz: file: .*training\.danger"):
        build_danger(folder)
    (folder / "danger" / "model.npz").write_bytes(b"x")
    with pytest.raises(DataError, match=r"danger/model\.npz: file: no usable model"):
        build_danger(folder)
