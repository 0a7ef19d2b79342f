"""Fitting the model that decides whether the evidence is good enough, on development questions.

    python -m clara.jobs.calibrating eval/clara/first_cut.jsonl

Writes data/calibration.json and prints what the model does on the questions, each judged by a model that did not see it.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from clara.bootstrap import Services
from clara.jobs.preparing import running_services
from clara.knowledge.guiding import guided
from clara.knowledge.passages import CORPUS
from clara.retrieval.calibration import features_of
from clara.retrieval.hybrid import hybrid
from clara.retrieval.passage import Hit, Query
from clara.settings import load_settings, resources

# Coverage is left out: on these questions its weight came out negative, because short off-topic questions are covered easily.
FEATURES = ("cosine", "named", "margin", "foreign")
Matrix = NDArray[np.float64]
RIDGE = 1.0
FOLDS = 10


def measure(services: Services, questions: list[dict[str, str]]) -> tuple[Matrix, Matrix]:
    """Give the features of each question's hits, one row a question, and whether the first hit is of the right procedure."""
    rows: list[list[float]] = []
    first: list[str] = []

    def note(query: Query, hits: object) -> bool:
        found: list[Hit] = list(hits)  # type: ignore[call-overload]
        features = features_of(query, found)
        rows.append([features[name] for name in FEATURES])
        first.append(found[0].passage.document_id)
        return True

    knowledge = services.knowledge.get()
    search = guided(hybrid(services.embedder.get(), services.index(), note), knowledge.named, knowledge.cues)
    for question in questions:
        search(Query(question["query"], CORPUS, question["language"], 12))
    right = [document == question["expected_procedure"] for document, question in zip(first, questions, strict=True)]
    return np.array(rows), np.array(right, dtype=float)


def fit(rows: Matrix, labels: Matrix) -> Matrix:
    """Fit a ridge-regularised logistic model by Newton's method; give intercept and weights of the raw features."""
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    design = np.c_[np.ones(len(rows)), (rows - mean) / spread]
    penalty = RIDGE * np.diag([0.0] + [1.0] * rows.shape[1])
    weights = np.zeros(design.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (chance - labels) + penalty @ weights
        weights -= np.linalg.solve((design * (chance * (1 - chance))[:, None]).T @ design + penalty, slope)
    raw = weights[1:] / spread
    return np.concatenate([[weights[0] - raw @ mean], raw])


def main(source: Path) -> None:
    """Fit on a JSONL file of questions with `expected_procedure` (null: out of scope)."""
    questions = [json.loads(line) for line in source.read_text("utf-8").splitlines() if line.strip()]
    with running_services(load_settings(), lambda message: click.echo(message, err=True)) as services:
        rows, labels = measure(services, questions)
    unseen = np.zeros(len(rows))
    for fold in range(FOLDS):
        held = np.arange(len(rows)) % FOLDS == fold
        model = fit(rows[~held], labels[~held])
        unseen[held] = 1 / (1 + np.exp(-(model[0] + rows[held] @ model[1:])))
    inside, outside = unseen[labels == 1], unseen[labels == 0]
    scope = np.array([question["expected_procedure"] is not None for question in questions])
    threshold = max(np.unique(unseen), key=lambda value: (inside >= value).mean() + (outside < value).mean())
    ranks = (inside[:, None] > outside).mean() + 0.5 * (inside[:, None] == outside).mean()
    final = fit(rows, labels)
    document = {
        "$comment": "Logistic model of 'the first hit is of the right procedure'; made by `python -m clara.jobs.calibrating`.",
        "fitted_on": source.name,
        "fitted_at": datetime.now(UTC).date().isoformat(),
        "cross_validated": {
            "auroc": round(float(ranks), 3),
            "right_answers_given": round(float((inside >= threshold).mean()), 3),
            "wrong_answers_withheld": round(float((outside < threshold).mean()), 3),
            "in_scope_answered": round(float((unseen[scope] >= threshold).mean()), 3),
            "out_of_scope_refused": round(float((unseen[~scope] < threshold).mean()), 3),
            "questions": len(rows),
        },
        "weights": {name: round(float(weight), 4) for name, weight in zip(FEATURES, final[1:], strict=True)},
        "intercept": round(float(final[0]), 4),
        "threshold": round(float(threshold), 4),
    }
    (resources() / "data" / "calibration.json").write_text(json.dumps(document, indent=2) + "\n", "utf-8")
    click.echo(json.dumps(document, indent=2))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
