"""What a run would cost, before anything is asked: requests and tokens by part, so that nobody is surprised by a bill."""

from collections.abc import Iterator
from math import ceil
from typing import Final

from clara_lab.bench.dataset import BenchData
from clara_lab.bench.plan import LOCAL, RunPlan

# Characters of a token, roughly, in the languages of Europe: an estimate for a bill, not a measure.
CHARACTERS: Final = 4
# Instructions around what a model is given, in tokens.
AROUND: Final = 150
ANSWER_TOKENS: Final = 100
VERDICTS: Final = 2


def sizes(data: BenchData) -> str:
    """Say how much a run works on."""
    relative = "; not the whole corpus: figures compare strategies on it, and nothing else" if data.relative_only else ""
    return f"{data.name}: {len(data.questions)} questions, {len(data.documents)} documents, digest {data.digest[:12]}{relative}"


def estimates(plan: RunPlan, data: BenchData) -> Iterator[str]:
    """Say, a line each, how often every part is asked and about how many tokens it reads and writes."""
    characters = sum(len(document.title) + len(document.text) for document in data.documents)
    asked = sum(len(question.text) for question in data.questions)
    texts = len(data.documents) + len(data.questions)
    batches = ceil(len(data.documents) / plan.embedding_batch_size) + ceil(len(data.questions) / plan.embedding_batch_size)
    where = "on this machine" if plan.embedding_model_name == LOCAL else f"{batches} requests"
    yield f"embedding ({plan.embedding_model_name}): {texts} texts, about {_tokens(characters + asked)} tokens, {where}"
    mean = characters / max(1, len(data.documents))
    if plan.enriches:
        read = len(data.documents) * AROUND + characters // CHARACTERS
        yield _of_model(plan, "enriching", len(data.documents), read, len(data.documents) * plan.retrieval_context_max_tokens)
    if plan.reranker_enabled:
        read = round(len(data.questions) * plan.candidates * mean / CHARACTERS)
        yield f"reranking ({plan.reranker_model_name}): {len(data.questions)} requests, about {read:,} tokens"
    if plan.generation_enabled:
        given = plan.reranker_top_n if plan.reranker_enabled else plan.retrieval_k
        context = given * mean
        if plan.generation_max_context_chars:
            context = min(context, plan.generation_max_context_chars)
        read = round(len(data.questions) * (AROUND + context / CHARACTERS))
        yield _of_model(plan, "answering", len(data.questions), read, len(data.questions) * ANSWER_TOKENS)
        if plan.judge_enabled and plan.served_llm:
            count = VERDICTS * len(data.questions)
            yield _of_model(plan, "judging", count, VERDICTS * read, count * ANSWER_TOKENS)


def _of_model(plan: RunPlan, part: str, requests: int, read: int, written: int) -> str:
    if not plan.served_llm:
        return f"{part} ({plan.llm_model_name}): {requests} texts, on this machine"
    return f"{part} ({plan.llm_model_name}): {requests} requests, about {read:,} tokens read and at most {written:,} written"


def _tokens(characters: int) -> str:
    return f"{characters // CHARACTERS:,}"
