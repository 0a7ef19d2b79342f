"""Runs of the bench made of dice: the same for the same seed."""

import random
from dataclasses import replace

from clara_lab.bench.dataset import BenchQuestion
from clara_lab.bench.record import QuestionRecord, RunRecord, Score

TYPES = ("bridge", "comparison")
LEVELS = ("easy", "medium", "hard")


def run(run_id: str = "run-a", questions: int = 60, seed: int = 1, skill: float = 0.6, reranks: bool = True) -> RunRecord:
    """A run over `questions` questions; each answering document is found early with a chance of `skill`."""
    asked = tuple(_question(number, random.Random(f"{seed}/{number}"), skill, reranks) for number in range(questions))
    return RunRecord(
        run_id,
        "2026-11-20T10:00:00+00:00",
        {"RETRIEVAL_STRATEGY": "CONTEXTUAL_HYBRID", "RETRIEVAL_K": 20, "weights": [0.5, 0.5], "seed": seed},
        {"name": "hotpotqa", "digest": "d" * 64, "documents": 4000, "questions": questions, "origin": {"format": "beir"},
         "relative_only": True},
        asked,
        {"seconds": {"index": 81.5, "retrieve": 6.25}, "peak_memory_bytes": 512_000_000, "llm_requests": questions},
    )  # fmt: skip


def _question(number: int, dice: random.Random, skill: float, reranks: bool) -> QuestionRecord:
    label = number % 5 == 0
    gold = frozenset({f"g{number}a", f"g{number}b"})
    question = BenchQuestion(
        f"q{number}", f"Which of the towns {number} is farther from <the> sea & why?", "yes" if label else f"Town {number}",
        "label" if label else "", TYPES[number % 5 == 0], LEVELS[number % 3], gold,
    )  # fmt: skip
    pool = [f"d{number}-{place}" for place in range(30)]
    for document in sorted(gold):
        early = 0 if dice.random() < skill / 2 else dice.randint(0, 8)
        pool.insert(early if dice.random() < skill else dice.randint(8, 29), document)
    better = sorted(pool[:12], key=lambda name: (name not in gold) + dice.random() * 1.3)
    score = min(1.0, max(0.0, dice.gauss(skill, 0.35)))
    measures = {"accuracy": Score(float(score > 0.5))} if label else {"f1": Score(round(score, 3))}
    measures["faithfulness"] = (
        Score(None, "judge: no score in what it wrote") if number % 11 == 3 else Score(round(score**0.5, 3))
    )
    taken = {
        "retrieve": dice.lognormvariate(1.6, 0.4),
        "generate": dice.lognormvariate(5.5, 0.6),
        "judge": dice.lognormvariate(5, 0.5),
    }
    if reranks:
        taken["rerank"] = dice.lognormvariate(3.2, 0.3)
    return QuestionRecord(
        question,
        tuple(pool[:20]),
        tuple(pool) if reranks else (),
        tuple(better[:5] if reranks else pool[:20]),
        number % 17 != 4 if reranks else None,
        f"Town {number}, I think" if score < 0.8 else question.answer,
        measures,
        taken,
        ("rerank: timed out",) if reranks and number % 17 == 4 else (),
    )


def broken(record: RunRecord) -> RunRecord:
    """The same run with what can be wrong in one: nothing found, no answer, no gold, hostile and odd texts."""
    first, second, third, *others = record.questions
    hostile = replace(first.question, text="<script>alert(1)</script>", answer='=HYPERLINK("x")', question_type="\u2028\ud800")
    return replace(
        record,
        questions=(
            replace(first, question=hostile, answer="-5", measures={"f1": Score(0.0)}, failures=("judge: <b>",)),
            QuestionRecord(second.question, failures=("retrieve: connection lost",)),
            QuestionRecord(replace(third.question, gold=frozenset()), retrieved=("a b", "c"), answer=""),
            *others,
        ),
    )
