"""Programs in six languages, cut by tree-sitter: what is a unit, what is known of it, and what is left out."""

import subprocess
import sys
from pathlib import Path

import pytest

from clara.adapters.treesitter.cutter import MOST_CALLS, cut
from clara.adapters.treesitter.grammars import GRAMMARS
from clara.adapters.treesitter.reader import LARGEST, TreeSitterReader, source_of
from clara.cli.corpora import PROGRAMS
from clara.ingestion.programs import LANGUAGES, ProgramUnit, Reason, Skipped, Survey, UnreadableProgramsError
from clara.settings import child_environment

CODE = Path(__file__).parents[2] / "data" / "code"


def read(folder: Path, *languages: str) -> Survey:
    return TreeSitterReader().read(folder, languages, lambda _done, _total: None)


@pytest.fixture(scope="module")
def units() -> dict[str, ProgramUnit]:
    return {unit.place: unit for unit in read(CODE).units}


@pytest.mark.parametrize(
    ("name", "kind", "lines", "signature", "documentation"),
    [
        ("auth/tokens.py", "module", (1, 36), "", "Signed tokens: who somebody is, and until when."),
        ("auth/tokens.py::TokenService", "class", (13, 36), "class TokenService:", "Makes and checks tokens with one secret."),
        ("auth/tokens.py::TokenService.issue", "method", (19, 21), "def issue(self, user: str) -> str:", "Make a token for a"),
        ("billing/invoices.py::Line", "class", (7, 13), "@dataclass(frozen=True) class Line:", "One thing that was bought."),
        ("storage/pool.py::ConnectionPool.release", "method", (18, 20), "def release(self, connection) -> None:", "Give a"),
        ("web/server.js", "module", (1, 27), "", "A small web server: routes, and what goes wrong on the way."),
        ("web/server.js::route", "function", (8, 10), "export function route(path, handler)", "Register a handler for a path."),
        ("web/server.js::dispatch", "function", (13, 21), "export const dispatch = async (request) =>", "Find the handler"),
        ("web/limiter.js::RateLimiter.refill", "method", (16, 22), "refill = (client, now) =>", ""),
        ("web/uploads.ts::Upload", "interface", (6, 10), "export interface Upload", "What is known of a file that was sent."),
        ("web/uploads.ts::Verdict", "enum", (12, 16), "export enum Verdict", ""),
        ("web/uploads.ts::Sink", "type", (18, 18), "export type Sink =", ""),
        ("web/panel.tsx::formatDuration", "function", (9, 11), "export function formatDuration(seconds: number): string", "W"),
        ("gateway/pool.go", "module", (1, 49), "", "Package gateway keeps connections to the database open."),
        ("gateway/pool.go::Conn", "struct", (10, 13), "type Conn struct {", "Conn is one open connection."),
        ("gateway/pool.go::Dialer", "interface", (16, 18), "type Dialer interface {", "Dialer opens connections."),
        ("gateway/pool.go::Pool.Take", "method", (39, 43), "func (p *Pool) Take() *Conn", "Take borrows a connection"),
        ("gateway/Pool.java::Pool.close", "method", (24, 27), "@Override public void close()", "Ends every connection."),
        ("gateway/Pool.java::Pool.Factory", "interface", (30, 32), "public interface Factory", "Opens connections."),
        ("gateway/Pool.java::Pool.State", "enum", (34, 37), "enum State", ""),
        ("orders/OrderService.java::OrderService.Order", "record", (27, 27), "public record Order(String customer, List<", ""),
        ("engine/src/index.rs", "module", (1, 46), "", "An inverted index that is held in memory."),
        ("engine/src/index.rs::Posting", "struct", (6, 10), "#[derive(Debug, Clone)] pub struct Posting", "Where a word"),
        ("engine/src/index.rs::Tokenizer", "trait", (13, 20), "pub trait Tokenizer", "Something that cuts a text into words."),
        ("engine/src/index.rs::Index.insert", "method", (28, 32), "pub fn insert(&mut self, document: u32, ", "Add the words"),
        ("engine/src/pool.rs::with_connection", "macro", (18, 22), "macro_rules! with_connection {", ""),
    ],
)
def test_what_is_known_of_a_unit(
    units: dict[str, ProgramUnit], name: str, kind: str, lines: tuple[int, int], signature: str, documentation: str
) -> None:
    """Kind, first and last line, signature with decorators, and documentation without its signs, in every language."""
    unit = units[name]
    assert (unit.kind, (unit.first, unit.last)) == (kind, lines)
    assert unit.signature.startswith(signature)
    assert unit.documentation.startswith(documentation)
    assert bool(unit.documentation) == bool(documentation)


def test_calls(units: dict[str, ProgramUnit]) -> None:
    """Whatever a unit calls is known by its last name, in every language, and constructors as well."""
    expected = {
        "auth/tokens.py::TokenService.authenticate": {"split", "compare_digest", "_signature", "PermissionError"},
        "web/server.js::dispatch": {"get", "handleError", "Error", "handler"},
        "web/uploads.ts::store": {"sink"},
        "gateway/retry.go::Retry": {"call", "Sleep", "Int63n"},
        "orders/OrderService.java::OrderService.ship": {"validateOrder", "reserve", "items"},
        "gateway/Pool.java::Pool.Pool": {"ArrayBlockingQueue", "add", "connect"},
        "engine/src/index.rs::Index.insert": {"push", "or_default", "entry", "clone"},
    }
    assert {name: expected[name] - set(units[name].calls) for name in expected} == {name: set() for name in expected}


def test_a_class_shows_its_methods_and_not_their_bodies(units: dict[str, ProgramUnit]) -> None:
    """What stands in a class outside of methods is its own; of a method, its signature is."""
    service = units["auth/tokens.py::TokenService"].text
    assert "def authenticate(self, token: str) -> str:" in service
    assert "compare_digest" not in service
    assert "price: Decimal" in units["billing/invoices.py::Line"].text
    assert "LIFETIME = 3600" in units["auth/tokens.py"].text
    assert "import hmac" not in units["auth/tokens.py"].text


def test_what_is_left_out() -> None:
    """Each file or folder that is none of the project's programs is named with its reason; the others of its folder are cut."""
    assert set(read(CODE).skipped) == {
        Skipped("web/node_modules/", Reason.FOLDER),
        Skipped("web/bundle.min.js", Reason.MINIFIED),
        Skipped("storage/schema_pb2.py", Reason.GENERATED),
        Skipped("storage/legacy.py", Reason.ENCODING),
        Skipped("storage/dump.py", Reason.BINARY),
        Skipped("services/prose.py", Reason.UNPARSABLE),
        Skipped("auth/broken.py:9", Reason.FAULTY),
    }


def test_a_syntax_error_costs_one_function(units: dict[str, ProgramUnit]) -> None:
    """The functions before and behind a broken one are cut as they stand."""
    named = {unit.qualified for unit in units.values() if unit.path == "auth/broken.py"}
    assert named == {"", "sign_out", "remember_device"}
    made, faulty = cut(
        "a.py", "def f():\n    return (1 +\n\ndef g():\n    return 1\n\nclass C:\n    def m(self):\n        pass\n"
    )
    assert {"C", "C.m"} <= {unit.qualified for unit in made}
    assert [one.reason for one in faulty] == [Reason.FAULTY]


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link to a file or a folder, inside or outside, is left out and named, so nothing is read twice or from elsewhere."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.py").write_text("def a(): pass\n")
    (tmp_path / "own" / "b.py").symlink_to(CODE / "auth" / "tokens.py")
    (tmp_path / "own" / "loop").symlink_to(tmp_path / "own")
    survey = read(tmp_path / "own")
    assert [unit.qualified for unit in survey.units] == ["a"]
    assert {(one.place, one.reason) for one in survey.skipped} == {("b.py", Reason.LINK), ("loop/", Reason.LINK)}


def test_foreign_folders(tmp_path: Path) -> None:
    """What was installed or made is not entered, whatever holds it; hidden folders are not either."""
    for name in (".git", "node_modules", "__pycache__", "dist", "build", "vendor", "my-python"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.py").write_text("def x(): pass\n")
    (tmp_path / "my-python" / "pyvenv.cfg").write_text("home = /usr\n")
    (tmp_path / "a.py").write_text("def a(): pass\n")
    survey = read(tmp_path)
    assert survey.files == 1
    assert {one.reason for one in survey.skipped} == {Reason.FOLDER}
    assert len(survey.skipped) == 7


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"x = 1\n" * (LARGEST // 6 + 1), Reason.HUGE, id="huge"),
        pytest.param(b"// @generated by relay\nf()\n", Reason.GENERATED, id="generated-by-mark"),
        pytest.param(b"# This file was auto-generated. Do not edit.\n", Reason.GENERATED, id="generated-by-words"),
        pytest.param(b"a\0b", Reason.BINARY, id="binary"),
        pytest.param("'ñ'".encode("latin-1"), Reason.ENCODING, id="latin-1"),
        pytest.param(b"x" * 600 + b"\n", Reason.MINIFIED, id="minified"),
    ],
)
def test_files_that_are_not_read(tmp_path: Path, content: bytes, reason: Reason) -> None:
    """A file that nobody wrote, or that is no text, is told from a program before it is parsed."""
    file = tmp_path / "a.py"
    file.write_bytes(content)
    assert source_of(file) is reason


def test_files_that_are_read(tmp_path: Path) -> None:
    """A mark of byte order is taken away, and a program that speaks of generated files is none itself."""
    file = tmp_path / "a.py"
    file.write_bytes(b"\xef\xbb\xbf" + b'MARK = "DO NOT EDIT"\n')
    assert source_of(file) == 'MARK = "DO NOT EDIT"\n'
    assert source_of(tmp_path / "gone.py") is Reason.UNREADABLE


def test_only_one_language() -> None:
    """Asked for languages, the files of the others are not looked at; TypeScript has two grammars."""
    assert {unit.language for unit in read(CODE, "go", "rust").units} == {"go", "rust"}
    assert {Path(unit.path).suffix for unit in read(CODE, "typescript").units} == {".ts", ".tsx"}


def test_nothing_to_read(tmp_path: Path) -> None:
    """A folder that is none, or holds no program, is named with what was looked for and what was left out."""
    with pytest.raises(UnreadableProgramsError, match=r"gone: is no folder"):
        read(tmp_path / "gone")
    with pytest.raises(UnreadableProgramsError, match=r"holds no code in \.go; check the folder and --language"):
        read(tmp_path, "go")
    (tmp_path / "a.go").write_bytes(b"\0")
    with pytest.raises(UnreadableProgramsError, match=r"Left out: a\.go \(binary\)"):
        read(tmp_path, "go")


def test_deep_and_wide_programs() -> None:
    """Ten thousand brackets, a chain of ten thousand calls, and as many functions: no recursion, no square."""
    deep, _ = cut("a.py", f"def f():\n    return {'(' * 10_000}1{')' * 10_000}\n")
    assert [unit.qualified for unit in deep] == ["f"]
    chain, _ = cut("a.js", f"function f() {{ return a{''.join(f'.b{number}()' for number in range(10_000))}; }}")
    assert len(chain[0].calls) == MOST_CALLS
    many, _ = cut("a.py", "".join(f"def f{number}(): pass\n" for number in range(10_000)))
    assert len(many) == 10_000


@pytest.mark.parametrize("source", ["", "\n\n", "# only a word\n", "import os\n", "\ud800", "def", "class A:", "\x0c"])
def test_little_or_nothing(source: str) -> None:
    """A file with next to nothing in it gives no unit of a function, and no error."""
    made, _ = cut("a.py", source)
    assert all(unit.kind in {"module", "class"} for unit in made)


def test_a_notice_is_no_documentation() -> None:
    """A licence at the top of a file says nothing about it."""
    made, _ = cut("a.js", "// Copyright 2026 Somebody. MIT Licence.\n\nfunction f() {}\n")
    assert [unit.kind for unit in made] == ["function"]


def test_the_languages_are_the_same_everywhere() -> None:
    """Those of the grammars are those that the command line offers."""
    assert {grammar.language for grammar in GRAMMARS} == set(LANGUAGES) == set(PROGRAMS)


def test_the_same_file_gives_the_same_units() -> None:
    """Reading twice gives the same, in the order of path and line."""
    assert read(CODE) == read(CODE)
    assert [unit.path for unit in read(CODE).units] == sorted((unit.path for unit in read(CODE).units), key=_order)


def _order(path: str) -> tuple[tuple[bool, str], ...]:
    parts = path.split("/")
    return tuple((place < len(parts) - 1, part) for place, part in enumerate(parts))


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("tree_sitter", "reading programs needs tree_sitter, which is not installed; pip install 'clara-tramites[code]'"),
        ("tree_sitter_go", "go needs tree-sitter-go, which is not installed; pip install 'clara-tramites[code]'"),
    ],
)
def test_without_the_extra(missing: str, said: str) -> None:
    """Where the parser or the grammar of a language is not installed, the command that mends it is named."""
    script = f"""
import sys
from pathlib import Path
sys.modules[{missing!r}] = None  # as if it were not installed
from clara.container import Container
from clara.ingestion.programs import UnreadableProgramsError
from clara.settings import Settings
try:
    Container(Settings(), None).program_reader().read(Path({str(CODE)!r}), ["go"], lambda _done, _total: None)
except UnreadableProgramsError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=child_environment())
    assert ran.stdout.strip() == said
