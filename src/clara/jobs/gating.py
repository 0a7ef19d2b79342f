"""The gate of a publication: what `clara eval` asks of a release, asked of a version before anybody is answered from it.

A version passes when it reaches the least values of eval/clara/gate.toml and eval/answers/gate.toml, and when nothing that is
right with the served version is wrong with it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clara import __version__
from clara.adapters.postgres.publications import ServedVersion
from clara.bootstrap import Knowledge, Lazily, Services, Version
from clara.bootstrap.engine import digest_of_release
from clara.bootstrap.scoping import build_scope
from clara.jobs.evaluating import CHAIN, Choice, evaluate
from clara.jobs.judging import ALL, judge
from clara.knowledge.keyword import TIER as KEYWORD
from clara.knowledge.passages import CORPUS
from clara.knowledge.placing import madrid_today
from clara.retrieval.ports import Embedder, Role
from clara.settings import resources

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
TIERS: Final = (CHAIN, KEYWORD)
ANSWERS: Final = "answers"
# The settings that change what is answered: a version that was measured under others is measured again.
SHAPING: Final = ("rag_", "gemini_", "reranker_", "clara_human", "clara_whisper")
# Named in a refusal; the record of the publication has all of them.
NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class Measured:
    """What one version makes of the evaluation: what falls short of the gate, and what is wrong, by part."""

    short: tuple[str, ...] = ()
    wrong: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A version held against the gate and against the served one."""

    before: Measured
    after: Measured

    @property
    def worse(self) -> tuple[str, ...]:
        """Name everything that was right and is wrong."""
        return _gone(self.after, self.before)

    @property
    def better(self) -> tuple[str, ...]:
        """Name everything that was wrong and is right."""
        return _gone(self.before, self.after)

    @property
    def passed(self) -> bool:
        """Whether the version may be served."""
        return not self.after.short and not self.worse

    def as_json(self) -> dict[str, Any]:
        """Give what is kept with a publication."""
        wrong = {part: sorted(names) for part, names in self.after.wrong.items()}
        return {"short": list(self.after.short), "worse": list(self.worse), "wrong": wrong}

    def lines(self) -> list[str]:
        """Say it to a person."""
        lines = [f"Against the served version: {len(self.better)} became right, {len(self.worse)} became wrong."]
        lines += [f"  below the gate: {short}" for short in self.after.short]
        lines += [f"  became wrong: {name}" for name in self.worse[:NAMED]]
        if len(self.worse) > NAMED:
            lines.append(f"  and {len(self.worse) - NAMED} more")
        return lines


class Gate:
    """Asks versions the questions of the evaluation, with whole answers too or without; `category` keeps it to a few."""

    def __init__(self, services: Services, say: Say, progress: Progress, *, answers: bool, category: str | None = None) -> None:
        self._services = services
        self._say = say
        self._progress = progress
        self._answers = answers
        self._category = category
        self._embedder: Lazily[Embedder] = Lazily(lambda: OnceEmbedder(services.embedder.get()))

    def held_against(self, before: ServedVersion, held: Knowledge, staged: Version) -> Verdict:
        """Hold a staged version against the served one and what it knows. Raises DataError.

        What is known of the served one, measured alike when it was published, is not asked again.
        """
        after = self._measured(staged, self._say)
        known = self._remembered(before)
        if known is None:
            self._say("Asking the served version the same questions ...")
            known = self._measured(Version(held, {CORPUS: before.physical}), lambda _line: None)
        return Verdict(known, after)

    def _measured(self, version: Version, say: Say) -> Measured:
        """Ask one version everything."""
        services = self._services.speaking(version)
        services.embedder = self._embedder
        services.scope = Lazily(lambda: build_scope(self._embedder.get))
        short: list[str] = []
        wrong: dict[str, frozenset[str]] = {}
        for tier in TIERS:
            done = evaluate(services, Choice(tier, category=self._category), None, say, self._progress)
            short += [f"{tier} {each}" for each in done.shortfalls]
            wrong[tier] = frozenset(outcome.question.id for outcome in done.outcomes if not outcome.right)
        if self._answers:
            judged = judge(services, (), ALL, say, self._progress)
            short += [str(each) for each in judged.shortfalls]
            failed = [(part, case) for part in judged.parts for case in part.judged if not case.passed]
            wrong[ANSWERS] = frozenset(f"{part.suite} {part.split} {case.group} {case.id}" for part, case in failed)
        return Measured(tuple(short), wrong)

    def _remembered(self, before: ServedVersion) -> Measured | None:
        for one in self._services.publications().publications(CORPUS):
            wrong = one.gate.get("wrong", {})
            if one.id == before.publication and (ANSWERS in wrong or not self._answers):
                alike = one.gate.get("of") == mark(self._services, before.physical)
                return Measured((), {part: frozenset(names) for part, names in wrong.items()}) if alike else None
        return None


def mark(services: Services, physical: str) -> str:
    """Digest everything that a measurement hangs on: program, data, questions, settings, the corpus, the day."""
    settings = {name: value for name, value in services.settings.model_dump(mode="json").items() if name.startswith(SHAPING)}
    version = services.publications().version_of(physical)
    told = json.dumps([__version__, digest_of_release(), settings, physical, version, madrid_today().isoformat()])
    digest = hashlib.sha256(told.encode())
    for file in sorted((resources() / "eval").rglob("*.*")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


class OnceEmbedder:
    """Embeds each text once, however many versions it is asked of: questions of an evaluation are public."""

    def __init__(self, embedder: Embedder) -> None:
        self.model = embedder.model
        self.dimensions = embedder.dimensions
        self._embedder = embedder
        self._made: dict[tuple[str, Role], list[float]] = {}

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text, in order. Raises EmbedderUnavailableError."""
        fresh = [text for text in dict.fromkeys(texts) if (text, role) not in self._made]
        if fresh:
            made = self._embedder.embed(fresh, role)
            self._made |= {(text, role): vector for text, vector in zip(fresh, made, strict=True)}
        return [self._made[text, role] for text in texts]


def _gone(held: Measured, other: Measured) -> tuple[str, ...]:
    """Name what is wrong in one and not in the other, of the parts that both were asked."""
    parts: Iterable[str] = [part for part in held.wrong if part in other.wrong]
    return tuple(f"{part} {name}" for part in parts for name in sorted(held.wrong[part] - other.wrong[part]))
