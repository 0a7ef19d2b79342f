"""Reading a PDF, in a process of its own.

    python -m clara.adapters.documents.pdf_process < document > text

A small file can make any reader of PDF take hours or all memory; here the system ends it. Reading stops with the exit code 3
and the reason on standard error.
"""

import io
import logging
import resource
import struct
import sys
import zlib
from time import monotonic
from typing import Final

from pypdf import PasswordType, PdfReader
from pypdf.errors import PyPdfError

from clara.adapters.documents.pdf import SECONDS, UNREADABLE
from clara.editorial.sources import DocumentError

MOST_PAGES: Final = 500
MOST_CHARACTERS: Final = 5_000_000
# Reading the law of social security, 330 pages, takes 150 MB.
MOST_MEMORY: Final = 1_500_000_000
# What pypdf raises over broken files, besides its own errors: it trusts what it finds in them.
BROKEN: Final = (
    PyPdfError, ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, NotImplementedError, OSError,
    RecursionError, TypeError, ValueError, struct.error, zlib.error,
)  # fmt: skip


def read_pdf(content: bytes, seconds: float = SECONDS, most_pages: int = MOST_PAGES) -> str:
    """Give the lines of all pages, in order. Raises DocumentError with the page where something is wrong."""
    if b"%PDF-" not in content[:1024]:
        raise DocumentError("byte 0: not a PDF")
    until = monotonic() + seconds
    place = "the document"
    texts: list[str] = []
    try:
        reader = PdfReader(io.BytesIO(content), strict=False)
        # Many official documents are encrypted without a password, only so that nobody edits them.
        if reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED:
            raise DocumentError("the document: is encrypted with a password; look for an open version of it")
        if len(reader.pages) > most_pages:
            raise DocumentError(f"the document: has {len(reader.pages)} pages; at most {most_pages} are read")
        for number, page in enumerate(reader.pages, 1):
            place = f"page {number}"
            texts.append(page.extract_text())
            if monotonic() > until or sum(map(len, texts)) > MOST_CHARACTERS:
                raise DocumentError(f"{place}: takes longer, or more characters, than a document may")
    except BROKEN as error:
        raise DocumentError(f"{place}: broken, or made in a way that cannot be read ({type(error).__name__})") from error
    return "\n".join(texts)


def main() -> None:
    """Read standard input, within bounds that the system keeps."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    try:
        text = read_pdf(sys.stdin.buffer.read())
    except DocumentError as error:
        sys.stderr.write(str(error))
        sys.exit(UNREADABLE)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
