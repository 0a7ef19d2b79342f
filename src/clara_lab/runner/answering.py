"""Writing the answers of a run, and measuring them: what was written is judged against exactly what the writer was given."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final

from clara.retrieval.ports import Embedder
from clara_lab.bench.dataset import BenchDocument
from clara_lab.bench.generation import answer_measures
from clara_lab.bench.judging import AnswerJudge
from clara_lab.bench.prompting import context_of
from clara_lab.bench.record import QuestionRecord, Score
from clara_lab.bench.similarity import semantic_similarities
from clara_lab.bench.writing import AnswerWriter

# Questions answered between two writes of the log, at least: as many answers and right answers are embedded together.
BATCH: Final = 16
SIMILARITY: Final = "semantic_similarity"


@dataclass(frozen=True, slots=True)
class Answering:
    """What writes and what measures. `characters` bounds the context (None: all); `at_once` questions are under way."""

    documents: Mapping[str, BenchDocument]
    writer: AnswerWriter
    judge: AnswerJudge | None
    embedder: Embedder
    characters: int | None
    at_once: int = 1

    def answered(self, records: Sequence[QuestionRecord], done: Callable[[int], None]) -> Iterator[QuestionRecord]:
        """Give the records with their answers and measures, in order; `done` is told how many there are."""
        size = max(BATCH, self.at_once)
        with ThreadPoolExecutor(self.at_once, "writer") as pool:
            for start in range(0, len(records), size):
                some = list(pool.map(self._answer, records[start : start + size]))
                similar = semantic_similarities([(record.question, record.answer) for record in some], self.embedder)
                for record, measured in zip(some, similar, strict=True):
                    yield replace(record, measures={**record.measures, SIMILARITY: measured})
                done(min(start + size, len(records)))

    def _answer(self, record: QuestionRecord) -> QuestionRecord:
        context = context_of([self.documents[name] for name in record.context], self.characters)
        question, started = record.question, perf_counter()
        written = self.writer.write(question, context)
        written_at = perf_counter()
        measures: dict[str, Score] = dict(answer_measures(question, written.answer))
        milliseconds = {**record.milliseconds, "generate": (written_at - started) * 1000}
        if self.judge is not None:
            measures["faithfulness"] = self.judge.faithfulness(question, written.answer, context)
            measures["context_utilisation"] = self.judge.context_utilisation(question, written.answer, context)
            milliseconds["judge"] = (perf_counter() - written_at) * 1000
        failures = (*record.failures, f"generate: {written.failure}") if written.failure else record.failures
        shown = tuple(one.id for one in context.shown)
        return replace(
            record, context=shown, answer=written.answer, measures=measures, milliseconds=milliseconds, failures=failures
        )
