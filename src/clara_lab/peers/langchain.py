"""LangChain's PGVectorStore (langchain-postgres), with the HNSW index and the hybrid search of its documentation."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from langchain_core.embeddings import Embeddings
from langchain_postgres import Column, PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion
from langchain_postgres.v2.indexes import HNSWIndex

from clara_lab.bench.dataset import BenchDocument
from clara_lab.bench.peers import HYBRID, LEG, Floats, PeerSetting, content_of

TABLE: Final = "documents"
# LangChain's column of ids holds UUIDs unless it is told otherwise.
IDS: Final = Column("langchain_id", "TEXT", nullable=False)


class _QuestionVector(Embeddings):  # type: ignore[misc]  # the class is not there where this is checked
    """Gives the vector of the question that is being asked; documents come with theirs."""

    def __init__(self) -> None:
        self.vector: list[float] = []

    def embed_query(self, text: str) -> list[float]:
        """Give the vector that was set."""
        del text
        return self.vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Refuse, as the framework asks for the method: no document comes without a vector."""
        raise ValueError(f"{len(texts)} documents came without vectors")


class LangChainPeer:
    """`similarity_search` of a PGVectorStore; for the hybrid search with a tsvector column and reciprocal ranks."""

    def __init__(self, setting: PeerSetting) -> None:
        address = setting.url.replace("postgresql://", "postgresql+psycopg://", 1)
        self._engine = PGEngine.from_connection_string(address)
        self._given = _QuestionVector()
        self._hybrid = _hybrid(setting) if setting.way == HYBRID else None
        self._engine.init_vectorstore_table(TABLE, setting.dimensions, id_column=IDS, hybrid_search_config=self._hybrid)
        self._store = PGVectorStore.create_sync(self._engine, self._given, TABLE, hybrid_search_config=self._hybrid)

    def load(self, documents: Sequence[BenchDocument], vectors: Floats) -> None:
        """Add the documents with their vectors, then apply the indexes."""
        texts = [content_of(document) for document in documents]
        self._store.add_embeddings(texts, vectors.tolist(), ids=[document.id for document in documents])
        self._store.apply_vector_index(HNSWIndex())
        if self._hybrid:
            self._store.apply_hybrid_search_index()

    def search(self, text: str, vector: Sequence[float], limit: int) -> list[str]:
        """Ask as the documentation does."""
        self._given.vector = list(vector)
        if self._hybrid is None:
            return [str(found.id) for found in self._store.similarity_search(text, k=limit)]
        # A configuration of its own for each question: the store writes the first question into the one that it was made with,
        # and looks for that one's words ever after (langchain-postgres 0.0.19).
        own = replace(self._hybrid, fts_query=text, fusion_function_parameters={"rrf_k": 60})
        return [str(found.id) for found in self._store.similarity_search(text, k=limit, hybrid_search_config=own)]

    def close(self) -> None:
        """Close the pool."""
        asyncio.run(self._engine.close())


def _hybrid(setting: PeerSetting) -> HybridSearchConfig:
    return HybridSearchConfig(
        tsv_column="content_tsv",
        tsv_lang=f"pg_catalog.{setting.dictionary}",
        fusion_function=reciprocal_rank_fusion,
        fusion_function_parameters={"rrf_k": 60},
        primary_top_k=LEG,
        secondary_top_k=LEG,
    )
