"""Telling the engine what a question plainly names: procedures by their vocabulary, sections by their cue words."""

from dataclasses import replace

from clara.knowledge.keyword import NamedProcedures, SectionCues
from clara.retrieval.passage import Found, Query, Retrieve


def guided(retrieve: Retrieve, named: NamedProcedures, cues: SectionCues) -> Retrieve:
    """Add the documents and sections that the question names to the query."""

    def guiding(query: Query) -> Found:
        documents = tuple(sorted(named.find(query.text)))
        return retrieve(replace(query, documents=documents, sections=tuple(sorted(cues.find(query.text)))))

    return guiding
