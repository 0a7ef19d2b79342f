"""Fitting the model that decides whether the evidence is good enough, on development questions alone.

    python -m clara_lab.makers.calibration

Writes data/calibration.json, with what it does on the same questions, each judged by a model that did not see it.
"""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from clara.container.corpora import Corpora
from clara.knowledge.keyword_tier import KEYWORD, keyword
from clara.knowledge.knowledge_base import Knowledge
from clara.processes.preparation import running_container
from clara.quality.dataset import Question
from clara.quality.release import asking, read_evaluation
from clara.quality.suites.comprehension import UNDERSTANDING
from clara.quality.suites.needs import NEEDS
from clara.quality.suites.suite import Suite, read_cases
from clara.retrieval.calibration import features_of
from clara.retrieval.hybrid import TIER as HYBRID
from clara.retrieval.hybrid import hybrid, plainly
from clara.retrieval.passage import Hit, Query, Retrieve
from clara.settings import load_settings, resources

Matrix = NDArray[np.float64]
# The others are left out: once `inside` is there, none of cosine, coverage, foreign and margin separates development questions
# better (AUROC .990 alone and with the margin; .971 and .966 answered at .95 refused).
FEATURES = {HYBRID: ("inside",), KEYWORD: ("inside",)}
RIDGE = 1.0
FOLDS = 10
POINTS = 20
# What asks two things, or orders Clara about, is taken apart before it is searched for.
COMPOSED = ("both", "orders", "orders_only")


class Noting:
    """A judge that accepts everything and notes the features it saw."""

    threshold = 0.0

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.rows: list[list[float]] = []

    def probability(self, query: Query, hits: Sequence[Hit]) -> float:
        """Note the features; be certain."""
        features = features_of(query, hits) if hits else dict.fromkeys(self._names, 0.0)
        self.rows.append([features[name] for name in self._names])
        return 1.0

    def evidence(self, query: Query, hits: Sequence[Hit]) -> dict[str, float]:
        """Give what was noted last."""
        del query, hits
        return dict(zip(self._names, self.rows[-1], strict=True))


def measure(
    corpora: Corpora, knowledge: Knowledge, tier: str, questions: Sequence[Question], read: Callable[[Question], Query]
) -> tuple[Matrix, Matrix]:
    """Give the features of each question's hits, one row a question, and whether it is in scope.

    `read` gives a question as the conversation asks it.
    """
    judge = Noting(FEATURES[tier])
    search: Retrieve
    if tier == HYBRID:
        search = hybrid(corpora.embedder, plainly(corpora.index()), judge, knowledge.understand)
    else:
        search = keyword(knowledge.passages, knowledge.understand, judge)
    for question in questions:
        search(read(question))
    return np.array(judge.rows), np.array([question.in_scope for question in questions], dtype=float)


def standing_alone(suite: Suite, split: str) -> list[Question]:
    """Give what hangs on nothing said before and asks one thing in a suite, as questions without section and facts."""
    rows = read_cases(resources() / "eval" / "answers" / f"{suite.name}.jsonl", split, suite.fields)
    unsaid: dict[str, Any] = {"section": None, "accepted_sections": frozenset(), "facts": frozenset(), "territory": None}
    return [
        Question(
            **{name: row[name] for name in ("id", "query", "language", "split")},
            **unsaid,
            documents=frozenset((*row["expected"], *row["accepted"])),
            category=row["phenomenon"],
            difficulty="hard",
        )
        for row in rows
        if not row.get("previous") and not row.get("turns") and row["phenomenon"] not in COMPOSED
    ]


def model() -> Pipeline:
    """Give a ridge-regularised logistic model of standardised features, not yet fitted."""
    return make_pipeline(StandardScaler(), LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-9))


def calibrated(rows: Matrix, labels: Matrix, names: Sequence[str]) -> dict[str, Any]:
    """Fit one tier; give weights, threshold and what unseen questions would have met."""
    folds = PredefinedSplit(np.arange(len(rows)) % FOLDS)
    unseen = cross_val_predict(model(), rows, labels, cv=folds, method="predict_proba")[:, 1]
    inside, outside = unseen[labels == 1], unseen[labels == 0]
    threshold = _best_threshold(inside, outside)
    scaler, logistic = model().fit(rows, labels)
    weights = logistic.coef_[0] / scaler.scale_
    return {
        "cross_validated": {
            "auroc": round(float(roc_auc_score(labels, unseen)), 4),
            "in_scope_answered": round(float((inside >= threshold).mean()), 4),
            "out_of_scope_refused": round(float((outside < threshold).mean()), 4),
            "questions": len(rows),
        },
        "risk_coverage": _risk_coverage(unseen, labels),
        "weights": {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)},
        "intercept": round(float(logistic.intercept_[0] - weights @ scaler.mean_), 4),
        "threshold": round(threshold, 4),
    }


def _best_threshold(inside: Matrix, outside: Matrix) -> float:
    """Give the middle of the thresholds at which the worse of the two rates is best: right answers given, wrong ones withheld.

    Both rates have the same goal, so neither may be bought with the other.
    """
    steps = np.linspace(0.02, 0.98, 97)
    worse = np.array([min((inside >= step).mean(), (outside < step).mean()) for step in steps])
    return float(steps[worse >= worse.max() - 1e-9].mean())


def _risk_coverage(unseen: Matrix, labels: Matrix) -> list[list[float]]:
    """Give [share of questions answered, share of those that should have been refused], surest first."""
    order = np.argsort(-unseen)
    wrong = np.cumsum(1 - labels[order])
    counts = np.linspace(len(order) / POINTS, len(order), POINTS).astype(int)
    return [[round(count / len(order), 3), round(float(wrong[count - 1] / count), 4)] for count in counts]


def main() -> None:
    """Fit on every development question of eval/clara, and on those of two suites that stand alone."""
    folder = resources() / "eval" / "clara"
    with running_container(load_settings(), lambda message: click.echo(message, err=True)) as container:
        snapshot = container.snapshot()
        questions = [question for question in read_evaluation(snapshot) if question.split == "dev"]
        questions += read_evaluation(snapshot, folder / "development.jsonl")
        for suite in (NEEDS, UNDERSTANDING):
            questions += standing_alone(suite, "dev")
        tiers = {
            name: calibrated(*measure(container, snapshot.knowledge, name, questions, asking(snapshot)), names)
            for name, names in FEATURES.items()
        }
    document = {
        "$comment": "Logistic model of 'the corpus holds an answer', by tier; made by clara_lab.makers.calibration.",
        "fitted_on": "the dev splits of queries.jsonl, needs.jsonl and understanding.jsonl, and development.jsonl",
        "fitted_at": datetime.now(UTC).date().isoformat(),
        "tiers": tiers,
    }
    (resources() / "data" / "calibration.json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    click.echo(
        json.dumps({name: {k: v for k, v in one.items() if k != "risk_coverage"} for name, one in tiers.items()}, indent=1)
    )


if __name__ == "__main__":
    main()
