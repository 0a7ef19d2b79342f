"""The commands that the documents name: collected from fenced blocks and inline code, and held against what there is."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from clara.cli import cli
from clara_lab.cli import cli as laboratory

ROOT: Final = Path(__file__).parents[2]
FENCE: Final = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
SPAN: Final = re.compile(r"`([^`\n]+)`")
ASSIGNMENT: Final = re.compile(r"[A-Z_]+=")
SHELLS: Final = ("sh", "")  # plain blocks hold commands too, such as lines for cron
# Words that stand for something of the reader's: NAME, N, ..., <ID>, `[--json]`, dev|test.
PLACEHOLDER: Final = re.compile(r"\.\.\.|…|[<\[\]|]|^[A-Z][A-Z_]*$")
# Programs of others, which only they can check.
FOREIGN: Final = frozenset({
    "cat", "curl", "docker", "echo", "grep", "jq", "openssl", "pg_dump", "pg_restore", "pip", "printf", "psql",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """A command line of a document, without its comment."""

    document: str
    text: str

    def __str__(self) -> str:
        return f"{self.document}: {self.text}"


def documents() -> list[Path]:
    """Give the pages of the root and of docs/; the changelog and decisions tell what was, not what is."""
    pages = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in pages if page.name != "CHANGELOG.md"]


def blocks(path: Path, kinds: tuple[str, ...] = SHELLS) -> Iterator[str]:
    """Give the fenced blocks of a document, and its lines that are indented as code."""
    text = path.read_text("utf-8")
    yield from (match[3] for match in FENCE.finditer(text) if match[2] in kinds)
    yield from re.findall(r"^    ((?:docker|clara|make) .*)$", FENCE.sub("", text), re.MULTILINE)


def spans(path: Path) -> Iterator[str]:
    """Give the inline code of a document."""
    text = FENCE.sub("", path.read_text("utf-8"))
    yield from (span.replace("\\|", "|") for span in SPAN.findall(text))


def lines(block: str) -> Iterator[str]:
    """Give the command lines of a block; those that end with a backslash go on."""
    for line in block.replace("\\\n", " ").splitlines():
        if stripped := re.sub(r"(^|\s)#\s.*$", "", line).strip():
            yield stripped


def commands(line: str) -> Iterator[list[str]]:
    """Give the simple commands of a line as words, without assignments, redirections and what a schedule puts in front."""
    line = re.sub(r"^[0-9*][0-9*, /]*(?= (clara|make))", "", line)
    line = re.sub(r"<\w+>|\b\w+(\|\w+)+\b", "...", line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&><")
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    skip = False
    for word in lexer:
        if set(word) <= set(";|&"):
            yield from _bare(words)
            words = []
        elif set(word) <= set("><"):
            skip = True
        elif skip:
            skip = False
        else:
            words.append(word)
    yield from _bare(words)


def _bare(words: list[str]) -> Iterator[list[str]]:
    while words and ASSIGNMENT.match(words[0]):
        words = words[1:]
    if words:
        yield words


def named(path: Path) -> Iterator[Line]:
    """Give every command line that a document names, of ours and of others in blocks."""
    name = str(path.relative_to(ROOT))
    for block in blocks(path, ("sh",)):
        yield from (Line(name, line) for line in lines(block))
    for block in blocks(path, ("",)):
        yield from (Line(name, line) for line in lines(block) if re.search(r"(^| )(clara|make) [a-z]", line))
    yield from (Line(name, span) for span in spans(path) if re.match(r"(\S+=\S* )*(\S*/)?(clara|make|python3?) \S", span))


def fault_of(line: Line) -> str | None:
    """Say what a command line names that is not there; None: nothing."""
    try:
        return next((fault for words in commands(line.text) if (fault := _fault(words))), None)
    except ValueError as error:
        return str(error)


def _fault(words: list[str]) -> str | None:
    program, rest = words[0].rsplit("/", 1)[-1], words[1:]
    if program == "clara":
        return _clara_fault(cli, rest)
    if program == "make":
        return _make_fault(rest)
    if program == "pytest":
        return next((f"there is no {word}" for word in rest if "/" in word and not (ROOT / word).exists()), None)
    if program.startswith("python"):
        return _python_fault(rest)
    return None if program in FOREIGN else f"{program} is neither ours nor known"


def _clara_fault(command: click.Command, words: list[str]) -> str | None:
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.commands.get(words[0])
        if found is None:
            return None if PLACEHOLDER.search(words[0]) else f"{command.name} has no command {words[0]}"
        command, words = found, words[1:]
    words = [word.strip("[]") for word in words]
    return _option_fault(command, words)


def _option_fault(command: click.Command, words: list[str]) -> str | None:
    """Hold options and their choices against the command; what is left are arguments."""
    options = {name: param for param in command.params if isinstance(param, click.Option) for name in _names(param)}
    arguments, place = 0, 0
    while place < len(words):
        name, _, value = words[place].partition("=")
        place += 1
        if not name.startswith("-") or name == "-":
            arguments += not PLACEHOLDER.search(name)
            continue
        if name == "--help":
            continue
        if name not in options:
            return f"{command.name} has no option {name}"
        if options[name].is_flag:
            continue
        if not value and place < len(words) and not words[place].startswith("-"):
            value, place = words[place], place + 1
        kind = options[name].type
        if isinstance(kind, click.Choice) and value and not PLACEHOLDER.search(value) and value not in kind.choices:
            return f"{command.name} {name} may not be {value}"
    taken = [param.nargs for param in command.params if isinstance(param, click.Argument)]
    return f"{command.name} takes {sum(taken)} arguments" if -1 not in taken and arguments > sum(taken) else None


def _names(option: click.Option) -> list[str]:
    return [*option.opts, *option.secondary_opts]


def _make_fault(words: list[str]) -> str | None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for word in words:
        name, given, _ = word.partition("=")
        there = (
            f"$({name})" in makefile or f"$({name}," in makefile if given else re.search(rf"^{name}:", makefile, re.MULTILINE)
        )
        if not there:
            return f"the Makefile has no {name}"
    return None


def _python_fault(words: list[str]) -> str | None:
    if not words or words[0] == "-c" or words[:2] == ["-m", "venv"] or PLACEHOLDER.search(" ".join(words[:2])):
        return None
    if words[:2] == ["-m", "pytest"]:
        return _fault(words[1:])
    if words[0] != "-m":
        return None if (ROOT / words[0]).is_file() else f"there is no {words[0]}"
    if words[1] == "clara_lab":
        return _clara_fault(laboratory, words[2:])
    source = _source(words[1])
    if source is None:
        return f"there is no module {words[1]}"
    missing = [word for word in words[2:] if word.startswith("--") and word != "--help" and f'"{word}"' not in source]
    return f"{words[1]} has no {missing[0]}" if missing else None


def _source(module: str) -> str | None:
    """Give the text of a module and of those of ours that it imports: there its options are declared."""
    places = [root / Path(*module.split(".")) for root in (ROOT / "src", ROOT)]
    found = [file for place in places for file in (place.with_suffix(".py"), place / "__main__.py")]
    for file in filter(Path.is_file, found):
        text = file.read_text("utf-8")
        imported = re.findall(r"^ *from ((?:clara|tests)[.\w]+) import", text, re.MULTILINE)
        parts = [root / Path(*name.split(".")).with_suffix(".py") for name in imported for root in (ROOT / "src", ROOT)]
        return "\n".join([text, *(part.read_text("utf-8") for part in parts if part.is_file())])
    return None
