"""Haystack's PgvectorDocumentStore (pgvector-haystack) and its retrievers, in the pipelines of its documentation."""

from collections.abc import Sequence
from typing import Any

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.utils import Secret
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever, PgvectorKeywordRetriever
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

from clara.evaluation.bench.dataset import BenchDocument
from clara.evaluation.bench.peers import HYBRID, LEG, Floats, PeerSetting, content_of


class HaystackPeer:
    """A pipeline: the retriever of vectors alone, or with that of words and a joiner by reciprocal ranks."""

    def __init__(self, setting: PeerSetting) -> None:
        self._store = PgvectorDocumentStore(
            connection_string=Secret.from_token(setting.url),
            embedding_dimension=setting.dimensions,
            vector_function="cosine_similarity",
            language=setting.dictionary,
            search_strategy="hnsw",
        )
        self._hybrid = setting.way == HYBRID
        self._pipeline = Pipeline()
        self._pipeline.add_component("vectors", PgvectorEmbeddingRetriever(document_store=self._store))
        if self._hybrid:
            self._pipeline.add_component("words", PgvectorKeywordRetriever(document_store=self._store))
            self._pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
            self._pipeline.connect("vectors", "joiner")
            self._pipeline.connect("words", "joiner")
        self._store.count_documents()  # its first use makes the tables

    def load(self, documents: Sequence[BenchDocument], vectors: Floats) -> None:
        """Write the documents; the index was made with the table, and grows with every row."""
        self._store.write_documents(
            [
                Document(id=document.id, content=content_of(document), embedding=vector)
                for document, vector in zip(documents, vectors.tolist(), strict=True)
            ]
        )

    def search(self, text: str, vector: Sequence[float], limit: int) -> list[str]:
        """Run the pipeline."""
        asked: dict[str, dict[str, Any]] = {"vectors": {"query_embedding": list(vector), "top_k": limit}}
        if self._hybrid:
            asked["vectors"]["top_k"] = LEG
            asked["words"] = {"query": text, "top_k": LEG}
            asked["joiner"] = {"top_k": limit}
        found = self._pipeline.run(asked)
        return [str(document.id) for document in found["joiner" if self._hybrid else "vectors"]["documents"]]

    def close(self) -> None:
        """Close the connection."""
        self._store.close()
