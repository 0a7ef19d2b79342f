"""A folder of programs as a corpus: loaded, loaded again, and asked under the policies of Advanced RAG."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.editing import search
from tests.integration.wired import CommandLine, WordEmbedder, bundled, database, wired

from clara.adapters.postgres.embedded import EmbeddedServer
from clara.container import Container
from clara.ingestion.corpora import CorpusNameError, Cutting, Programs, corpora_lines, load_programs
from clara.ingestion.journey import IngestionReport
from clara.processes.commands import build_search
from clara.retrieval.options.corrective import rewrites
from clara.retrieval.options.policies import Policy, adaptive, by_policy, complexity, recommendation, subject_of
from clara.retrieval.options.self_rag import E5, Relevance, grade, should_retrieve
from clara.retrieval.passage import Found, Query, Retrieve, Status
from clara.retrieval.search import SearchChoice
from clara.retrieval.vocabulary import Vocabulary
from clara_lab.benchmark import BenchmarkError
from clara_lab.code_search import CodeQuestion, measure, missed, read_questions, table

CODE = Path(__file__).parents[1] / "data" / "code"
LIMIT = 10


def fill(services: Container, folder: Path, name: str = "programs", *languages: str) -> IngestionReport:
    source, cutting = Programs(folder, languages), Cutting()
    return load_programs(services, name, source, profile="code", cutting=cutting, progress=lambda _done, _total: None)[0]


@pytest.fixture(scope="module")
def services(server: EmbeddedServer, templates: dict[str, str]) -> Iterator[Container]:
    """Container with the real model on a database that holds the programs."""
    with database(server, templates["schema"]) as url, wired(url) as made:
        fill(made, CODE)
        yield made


@pytest.fixture(scope="module")
def words(services: Container) -> Vocabulary:
    return subject_of(services.profile("code"), services.data)


@pytest.fixture(scope="module")
def plain(services: Container) -> Retrieve:
    return services.corpus_retriever("programs")


def ask(services: Container, text: str, policy: Policy) -> Found:
    return services.corpus_retriever("programs", policy)(Query(text, "programs", limit=LIMIT))


def names(found: Found, most: int = LIMIT) -> list[str]:
    return [unit_of(hit.passage.id) for hit in found.hits[:most]]


def unit_of(passage_id: str) -> str:
    """Give the unit; of those with documentation either passage may be the better one."""
    return passage_id.partition("#")[0]


class TestLoading:
    """What a load computes, and what it leaves as it was."""

    def test_only_what_changed_is_embedded(self, empty_url: str, tmp_path: Path) -> None:
        """A second load embeds nothing; a changed function costs one vector, one that moved none, a lost file its passages."""
        folder = shutil.copytree(CODE, tmp_path / "code")
        embedder = WordEmbedder()
        with wired(empty_url) as services:
            services.embedder = embedder
            first = fill(services, folder)
            assert first.written == first.embedded == len(embedder.embedded) > 70
            assert fill(services, folder).written == 0
            invoices = folder / "billing" / "invoices.py"
            invoices.write_text(invoices.read_text().replace("(1 + rate)", "(rate + 1)"))
            before = len(embedder.embedded)
            assert (fill(services, folder).embedded, len(embedder.embedded) - before) == (1, 1)
            invoices.write_text("\n\n" + invoices.read_text())
            moved = fill(services, folder)
            assert (moved.embedded, moved.written > 0) == (0, True)
            invoices.unlink()
            assert fill(services, folder).dropped == 7  # a file, three functions that are documented

    def test_what_is_told_of_a_unit(self, services: Container) -> None:
        """A hit carries language, kind, lines and calls, and can be filtered by file, language and kind."""
        found = search(services, "database connection pool", SearchChoice(3, "programs", filters={"kind": ("method",)}))
        assert len(found["hits"]) == 3
        only = search(services, "database connection pool", SearchChoice(LIMIT, "programs", filters={"language": ("go",)}))
        assert {hit["document_id"] for hit in only["hits"]} == {"gateway/pool.go", "gateway/retry.go"}
        (hit, *_) = ask(services, "write seconds as minutes", "none").hits
        assert (hit.passage.metadata["kind"], hit.passage.metadata["lines"]) == ("function", [9, 11])
        assert hit.passage.metadata["calls"] == ["floor", "padStart", "String"]

    def test_who_calls_whom_is_linked(self, empty_url: str) -> None:
        """Searched as programs are by default, a function that a hit calls by a name of its own gains by it."""
        with wired(empty_url) as services:
            services.embedder = WordEmbedder()
            source = Programs(CODE, ("python",))
            load_programs(
                services, "linked", source, profile="programs", cutting=Cutting(), progress=lambda _done, _total: None
            )
            assert int(corpora_lines(services.passages().corpora())[1].split()[4]) > 0
            found = services.corpus_retriever("linked")(Query("sum of an invoice with sales tax", "linked", limit=LIMIT))
            linked = {unit_of(hit.passage.id): hit.linked for hit in found.hits}
            assert linked["billing/invoices.py::round_to_cents"] > 0

    def test_clara_s_own_corpus_is_not_overwritten(self, services: Container) -> None:
        """The name of the checked knowledge is refused."""
        with pytest.raises(CorpusNameError, match="filled by `clara ingest`"):
            fill(services, CODE, "clara")


class TestUseCases:
    """The five of Advanced RAG, each under the policy that it names."""

    def test_precise_technical_query(self, services: Container) -> None:
        """1: a long question with exact words, corrected: the method is among the first, and every round is told."""
        found = ask(services, "find authenticate method with token validation", "corrective")
        assert "auth/tokens.py::TokenService.authenticate" in names(found, 3)
        assert 1 <= len(found.trace["rounds"]) <= 3

    def test_short_name(self, services: Container) -> None:
        """2: one word that is a name, self-reflective: what is called so comes first, and what remains was judged."""
        found = ask(services, "authenticate", "self_reflective")
        assert names(found, 1) == ["auth/tokens.py::TokenService.authenticate"]
        assert set(found.trace["relevance"]) >= {hit.passage.id for hit in found.hits}

    def test_architecture(self, services: Container) -> None:
        """3: several concepts at once, adaptive: what makes up signing in comes from more than one file."""
        found = ask(services, "microservices authentication pattern", "adaptive")
        assert found.trace["strategy"]["strategy"] in {"corrective", "self_reflective"}
        assert len({hit.passage.document_id for hit in found.hits if hit.passage.id.startswith("auth/")}) > 1

    def test_vague(self, services: Container, words: Vocabulary) -> None:
        """4: one vague word, adaptive: by length it is the self-reflective kind, and code about errors is found."""
        assert recommendation("error", words).strategy == "self_reflective"
        found = ask(services, "error", "adaptive")
        assert found.status is Status.FOUND
        assert {"web/server.js::handleError", "services/scheduler.py::report_error"} & set(names(found, 5))

    def test_several_languages(self, services: Container) -> None:
        """5: a concept that is there in four languages, corrected: it is found in each of them."""
        found = ask(services, "database connection pool", "corrective")
        assert {hit.passage.metadata["language"] for hit in found.hits} >= {"python", "go", "java", "rust"}


class TestSelfReflective:
    """Four topics: deciding whether to search, and what of the result to keep."""

    def test_should_retrieve_specific_query(self, words: Vocabulary) -> None:
        """A question that names a thing needs a search, plainly."""
        assert should_retrieve("find authenticate function", words).should_retrieve
        assert should_retrieve("find authenticate function", words).confidence == 1

    def test_should_retrieve_technical_query(self, words: Vocabulary) -> None:
        """One technical word needs a search; a greeting does not."""
        assert should_retrieve("middleware", words).should_retrieve
        assert not should_retrieve("hello, thanks", words).should_retrieve

    def test_retrieve_and_evaluate(self, services: Container) -> None:
        """Each hit that is shown was graded, and the decision is told."""
        found = ask(services, "validate the password of a user", "self_reflective")
        assert "auth/passwords.py::validate_credentials" in names(found, 3)
        assert found.trace["decision"]["should_retrieve"]

    def test_retrieve_and_evaluate_returns_only_relevant(self, services: Container, plain: Retrieve, words: Vocabulary) -> None:
        """What was graded as not relevant is not shown; nothing at all for a courtesy."""
        query = Query("database connection pool", "programs", limit=60)
        kept = services.corpus_retriever("programs", "self_reflective")(query)
        graded = [grade(query, hit, E5, words) for hit in plain(query).hits]
        shown = [one.hit.passage.id for one in graded if one.relevance is not Relevance.NOT_RELEVANT]
        assert [hit.passage.id for hit in kept.hits] == shown
        assert ask(services, "good morning", "self_reflective").hits == ()


class TestCorrective:
    """Three topics: other wordings, rounds, and each passage once."""

    def test_generate_alternative_queries(self, plain: Retrieve, words: Vocabulary) -> None:
        """Synonyms, keywords and kinds give other questions; "validate" brings "security"."""
        query = Query("how to validate a user", "programs")
        found = plain(query)
        written = {kind: list(rewrite(query, found)) for kind, rewrite in rewrites(words).items()}
        assert "security" in written["vocabulary"][0]
        assert written["keywords"] == ["validate user"]
        assert any(text.startswith("function") for text in written["kind"])

    def test_retrieve_with_correction_basic(self, services: Container) -> None:
        """At most three rounds are made, and the result is as long as was asked."""
        found = ask(services, "validate user credentials", "corrective")
        assert "auth/passwords.py::validate_credentials" in names(found, 3)
        assert len(found.trace["rounds"]) <= 3
        assert len(found.hits) == LIMIT

    def test_retrieve_with_correction_deduplicates(self, services: Container) -> None:
        """A passage that several rounds bring comes once."""
        found = ask(services, "pool that lends connections to threads", "corrective")
        assert len(set(names(found))) == len(found.hits)


class TestAdaptive:
    """Five topics: how complex a question is, and what follows from it."""

    def test_analyze_query_complexity(self, words: Vocabulary) -> None:
        """Two words are simple, three are not, and exact things or logic make a longer question complex."""
        levels = [complexity(text, words).value for text in ("error", "read a file", "validate token before the session ends")]
        assert levels == ["low", "medium", "high"]

    def test_retrieve_auto_strategy(self, services: Container) -> None:
        """Without a wish, the first search decides and says why."""
        strategy = ask(services, "hash a password with a salt", "adaptive").trace["strategy"]
        assert strategy["strategy"] in {"self_reflective", "corrective"}
        assert strategy["reason"].startswith("the first search")

    @pytest.mark.parametrize("preferred", ["self_reflective", "corrective"])
    def test_retrieve_prefer(self, services: Container, words: Vocabulary, preferred: str) -> None:
        """Two topics: either policy can be forced, whatever the question is like."""
        strategies = {name: services.corpus_retriever("programs", name) for name in ("self_reflective", "corrective")}
        found = adaptive(strategies, words, prefer=preferred)(Query("rate limiter", "programs", limit=3))
        assert found.trace["strategy"]["strategy"] == preferred
        assert any(name.startswith("web/limiter.js") for name in names(found))

    def test_get_strategy_recommendation(self, words: Vocabulary) -> None:
        """A recommendation has strategy, complexity, confidence and a reason without the question."""
        advice = recommendation("find authenticate function", words)
        assert (advice.strategy, advice.complexity.value, advice.reason) == ("corrective", "medium", "complexity is medium")
        assert 0 < (advice.confidence or 0) < 1


class TestTogether:
    """Five topics: each policy whole, empty results, and what all agree on."""

    @pytest.mark.parametrize("policy", ["self_reflective", "corrective", "adaptive", "by_length"])
    def test_full_pipeline(self, services: Container, policy: Policy) -> None:
        """Three topics: from question to hits, each policy finds the function."""
        found = ask(services, "mail a code to confirm an address", policy)
        assert names(found, 1) == ["services/mailer.py::send_confirmation"]

    @pytest.mark.parametrize("policy", ["self_reflective", "corrective", "adaptive", "by_length"])
    def test_empty_results(self, services: Container, policy: Policy) -> None:
        """A search that finds nothing is a miss under every policy, and no error."""
        subject = subject_of(services.profile("code"), services.data)
        nothing = by_policy(policy, lambda _query: Found(Status.NOT_FOUND, "none"), subject, 1.0)
        found = nothing(Query("quantum annealing", "programs"))
        assert (found.status, found.hits) == (Status.NOT_FOUND, ())

    def test_consistency_across_strategies(self, services: Container, plain: Retrieve) -> None:
        """What is plainly meant comes first under every policy as without one."""
        text = "sum up the lines of an invoice with sales tax"
        first = {policy: names(ask(services, text, policy), 1)[0] for policy in ("self_reflective", "corrective", "adaptive")}
        assert set(first.values()) == {"billing/invoices.py::total_with_tax"} == set(names(plain(Query(text, "programs")), 1))


class TestMeasuring:
    """The figures about questions to programs."""

    def test_our_own_questions_can_be_answered(self) -> None:
        """Forty questions in English, five in Spanish; each answer is a unit of our own source, and no question quotes it."""
        source = Path(__file__).parents[2]
        questions = read_questions(source / "eval" / "code" / "queries.jsonl")
        assert [sum(one.split == split for one in questions) for split in ("tuning", "held_out", "spanish")] == [20, 20, 5]
        for one in questions:
            assert one.gold
            for name in one.gold:
                path, _, unit = name.partition("::")
                last = unit.split(".")[-1]
                assert f" {last}" in (source / "src" / path).read_text("utf-8"), name
                assert "_" not in last or last not in one.question

    def test_measuring(self, services: Container, tmp_path: Path) -> None:
        """Every question is asked; what is not among the first three is named; an answer that is gone is an error."""
        asked = [("q1", "sum up the lines of an invoice", "total_with_tax"), ("q2", "trust a device", "total_with_tax")]
        file = tmp_path / "questions.jsonl"
        file.write_text("".join(json.dumps(line(*one)) + "\n" for one in asked))
        told = measure(services, build_search(services), CODE, file, profile="code", policy="none")
        assert told[0].startswith("all          2  hit@1 0.500")
        assert [one.startswith("q2 (held_out)") for one in told[2:]] == [True]
        file.write_text(json.dumps(line("q3", "anything", "gone")))
        with pytest.raises(BenchmarkError, match=r"billing/invoices.py::gone are not in"):
            measure(services, build_search(services), CODE, file, profile="code", policy="none")

    def test_a_table_counts_each_split(self) -> None:
        """A hit is any of the answers among the first; the rank of a miss is told."""
        wanted = [
            CodeQuestion("a", "?", "en", "tuning", frozenset({"x", "y"})),
            CodeQuestion("b", "?", "en", "held_out", frozenset({"z"})),
        ]
        ranked = [["y"], ["1", "2", "3", "z"]]
        assert [row.split("  ")[0].split()[0] for row in table(wanted, ranked)] == ["all", "tuning", "held_out"]
        assert missed(wanted, ranked) == ["b (held_out) at 4: ? -> 1, 2, 3"]

    @pytest.mark.parametrize("content", ["{", '{"id": "a"}', "[]"])
    def test_bad_questions(self, tmp_path: Path, content: str) -> None:
        """A file with a fault is named with the remedy."""
        (tmp_path / "q.jsonl").write_text(content)
        with pytest.raises(BenchmarkError, match=r"q\.jsonl: .*restore the file"):
            read_questions(tmp_path / "q.jsonl")


def line(name: str, question: str, unit: str) -> dict[str, Any]:
    gold = [f"billing/invoices.py::{unit}"]
    return {"id": name, "question": question, "language": "en", "split": "held_out", "gold": gold}


@pytest.fixture(scope="module")
def commands(server: EmbeddedServer, templates: dict[str, str]) -> Iterator[CommandLine]:
    with database(server, templates["schema"]) as url:
        made = CommandLine(url)
        yield made
        made.close()


def test_programs_on_the_command_line(commands: CommandLine) -> None:
    """Load one language, say what was left out, search under each policy, filter by kind."""
    ran = commands("corpus", "load", "small", "--code", CODE / "auth", "--language", "python", "-v")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].startswith("small: wrote 21 passages (21 new vectors)")
    assert ran.out.splitlines()[1:3] == ["14 units in 3 files", "  python: 5 method, 4 function, 3 module, 2 class"]
    assert ran.out.splitlines()[3:] == ["left out: 1 unit with a syntax error", "  broken.py:9: unit with a syntax error"]
    for policy in ("none", "self", "corrective", "adaptive"):
        found = commands("search", "check a typed password", "--corpus", "small", "--policy", policy, "--json")
        assert json.loads(found.out)["hits"][0]["passage_id"].startswith("passwords.py::validate_credentials")
    kinds = commands("search", "token", "--corpus", "small", "--filter", "kind=class", "--json")
    assert {unit_of(hit["passage_id"]) for hit in json.loads(kinds.out)["hits"]} == {
        "tokens.py::TokenService", "tokens.py::TokenExpiredError",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["corpus", "load", "x", "--code", "{folder}/gone"], "gone: is no folder", id="no-folder"),
        pytest.param(["corpus", "load", "x", "--code", "{folder}"], "holds no code in .py", id="no-code"),
        pytest.param(["corpus", "load", "x", "--code", "{folder}", "--language", "cobol"], "'cobol' is not one of", id="cobol"),
        pytest.param(["corpus", "load", "x"], "Give either --jsonl FILE or --code DIR", id="neither"),
        pytest.param(["corpus", "load", "x", "--jsonl", "{file}", "-v"], "belong to --code", id="verbose-without-code"),
        pytest.param(["corpus", "load", "x", "--code", "{folder}", "--profile", "poetry"], "no profile 'poetry'", id="profile"),
        pytest.param(["search", "x", "--policy", "self"], "RAG_POLICY sets the one of Clara's", id="policy-of-clara"),
        pytest.param(["search", "x", "--corpus", "y", "--policy", "best"], "'best' is not one of", id="unknown-policy"),
    ],
)
def test_mistakes(commands: CommandLine, tmp_path: Path, arguments: list[str], said: str) -> None:
    """Exit code 2 and a sentence that names what was wrong."""
    (tmp_path / "d.jsonl").write_text('{"id": "a", "title": "", "text": "b"}\n')
    ran = commands(*(argument.format(folder=tmp_path, file=tmp_path / "d.jsonl") for argument in arguments))
    assert (ran.code, ran.raised) == (2, None)
    assert said in ran.err


def test_the_shared_model_is_the_bundled_one(services: Container) -> None:
    """Policies are put around the bundled embedder only, and that is what these tests ran on."""
    assert services.embedder is bundled()
