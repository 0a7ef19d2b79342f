"""The page of examples: held with the real journey, and worth showing."""

from collections.abc import Callable

from clara.container import Container
from clara.quality.examples import examples, read_examples


def test_the_examples_show_what_they_say(knowledge_url: str, services_on: Callable[..., Container]) -> None:
    """Ten conversations: answered in several languages, asked back, urgent, refused, corrected, forgotten."""
    page = examples(services_on(knowledge_url, clara_channel="local").snapshot().tools, "clara examples")
    assert page.count("## ") == len(read_examples()) == 10
    for status in ("answered", "clarified", "urgent", "out_of_scope", "rights"):
        assert f"**Clara** ({status}):" in page, status
    assert "(not_found)" not in page
