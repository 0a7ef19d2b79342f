"""The gate of a publication: what `clara eval` asks of a release, asked of a version before anybody is answered from it.

A version passes when it is no worse than the served one by a paired test over the same cases in the same run, when no case of
danger or of figures that code decides becomes wrong, and when it stays above the least values of eval/clara/gate.toml.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clara.answering.snapshot import KnowledgeSnapshot
from clara.editorial.publication import Candidate
from clara.knowledge.keyword_tier import KEYWORD
from clara.knowledge.knowledge_base import KnowledgeVersion
from clara.knowledge.passages import CORPUS
from clara.quality.answers import chosen_suites, judge_parts
from clara.quality.dataset import SPLITS
from clara.quality.gate import Regression, change, regression
from clara.quality.question_vectors import QuestionVectors
from clara.quality.release import CHAIN, EvaluationChoice, evaluate

Say = Callable[[str], None]
Progress = Callable[[int, int], None]
TIERS: Final = (CHAIN, KEYWORD)
# No fact has to do with who is recognised to be in danger: a case that changes is a fault.
DANGER: Final = "danger"
# Named in a refusal; the record of the publication has all of them.
NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class Measured:
    """What one version makes of the evaluation.

    `short` falls below the least values, `wrong` are cases by group; in a `strict` group code decides every case, and none may
    become wrong.
    """

    short: tuple[str, ...] = ()
    wrong: Mapping[str, frozenset[str]] = field(default_factory=dict)
    strict: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Verdict:
    """A version held against the served one."""

    before: Measured
    after: Measured

    @property
    def regressions(self) -> tuple[Regression, ...]:
        """Give the groups that are worse than chance explains, and the strict ones with a case that became wrong."""
        before, after = self.before.wrong, self.after.wrong
        return tuple(
            found
            for group in after
            if group in before
            for found in regression(group, change(before[group], after[group]), strict=group in self.after.strict)
        )

    @property
    def short(self) -> tuple[str, ...]:
        """Give what falls below the least values, and does not with the served version."""
        return tuple(one for one in self.after.short if one.partition(":")[0] not in _measures(self.before.short))

    @property
    def worse(self) -> tuple[str, ...]:
        """Name every case that was right and is wrong."""
        return _gone(self.after, self.before)

    @property
    def better(self) -> tuple[str, ...]:
        """Name every case that was wrong and is right."""
        return _gone(self.before, self.after)

    @property
    def passed(self) -> bool:
        """Whether the version may be served."""
        return not self.short and not self.regressions

    def as_json(self) -> dict[str, Any]:
        """Give what is kept with a publication."""
        wrong = {group: sorted(names) for group, names in self.after.wrong.items() if names}
        regressions = [str(one) for one in self.regressions]
        return {"short": list(self.short), "regressions": regressions, "worse": list(self.worse), "wrong": wrong}

    def lines(self) -> list[str]:
        """Say it to a person."""
        lines = [f"Against the served version: {len(self.better)} became right, {len(self.worse)} became wrong."]
        lines += [f"  below the gate: {short}" for short in self.short]
        lines += [f"  worse: {one}" for one in self.regressions]
        lines += [f"  became wrong: {name}" for name in self.worse[:NAMED]]
        if len(self.worse) > NAMED:
            lines.append(f"  and {len(self.worse) - NAMED} more")
        return lines


def _measures(short: Sequence[str]) -> set[str]:
    return {one.partition(":")[0] for one in short}


class PublicationGate:
    """Asks versions the questions of the evaluation and every suite of answers; `category` and `suites` keep it to a few."""

    def __init__(
        self,
        served: KnowledgeSnapshot,
        say: Say,
        progress: Progress,
        *,
        category: str | None = None,
        suites: Sequence[str] = (),
    ) -> None:
        self._say = say
        self._progress = progress
        self._category = category
        self._suites = chosen_suites(suites)
        self._carried = QuestionVectors(served).carried

    def held_against(self, before: Candidate, staged: Candidate) -> Verdict:
        """Hold a staged version against the served one, both asked now. Raises DataError."""
        after = self._measured(staged, self._say)
        self._say("Asking the served version the same questions ...")
        return Verdict(self._measured(before, lambda _line: None), after)

    def _measured(self, version: Candidate, say: Say) -> Measured:
        """Ask one version everything."""
        snapshot = self._carried.of(KnowledgeVersion(version.knowledge, {CORPUS: version.physical}))
        short: list[str] = []
        wrong: dict[str, frozenset[str]] = {}
        for tier in TIERS:
            done = evaluate(snapshot, EvaluationChoice(tier, category=self._category), None, say, self._progress)
            short += [f"{tier} {each}" for each in done.shortfalls]
            wrong[tier] = frozenset(outcome.question.id for outcome in done.outcomes if not outcome.right)
        tasks = [(suite, split) for suite in self._suites.values() for split in SPLITS]
        parts = judge_parts(snapshot, tasks, self._progress)
        groups = {f"{part.suite} {part.split} {group}": (part, group) for part in parts for group in part.shares()}
        wrong |= {name: part.wrong(group) for name, (part, group) in groups.items()}
        strict = (name for name, (part, group) in groups.items() if part.suite == DANGER or part.goals.get(group) == 1.0)
        return Measured(tuple(short), wrong, frozenset(strict))


def _gone(held: Measured, other: Measured) -> tuple[str, ...]:
    """Name what is wrong in one and not in the other, of the parts that both were asked."""
    parts = [part for part in held.wrong if part in other.wrong]
    return tuple(f"{part} {name}" for part in parts for name in sorted(held.wrong[part] - other.wrong[part]))
