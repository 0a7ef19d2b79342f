"""Haystack's PgvectorDocumentStore (pgvector-haystack) and its retrievers, as its documentation has them."""

from collections.abc import Sequence

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.utils import Secret
from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever, PgvectorKeywordRetriever
from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

from clara_lab.bench.dataset import BenchDocument
from clara_lab.bench.peers import HYBRID, LEG, Floats, PeerSetting, content_of


class HaystackPeer:
    """The retriever of vectors on its own; hybrid, a pipeline of it, that of words, and a joiner by reciprocal ranks."""

    def __init__(self, setting: PeerSetting) -> None:
        self._store = PgvectorDocumentStore(
            connection_string=Secret.from_token(setting.url),
            embedding_dimension=setting.dimensions,
            vector_function="cosine_similarity",
            language=setting.dictionary,
            search_strategy="hnsw",
        )
        self._vectors = PgvectorEmbeddingRetriever(document_store=self._store)
        self._pipeline = self._joined() if setting.way == HYBRID else None
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
        """Run the retriever, or the pipeline."""
        if self._pipeline is None:
            found = self._vectors.run(query_embedding=list(vector), top_k=limit)
        else:
            asked = {
                "vectors": {"query_embedding": list(vector), "top_k": LEG},
                "words": {"query": text, "top_k": LEG},
                "joiner": {"top_k": limit},
            }
            found = self._pipeline.run(asked)["joiner"]
        return [str(document.id) for document in found["documents"]]

    def close(self) -> None:
        """Close the connection."""
        self._store.close()

    def _joined(self) -> Pipeline:
        pipeline = Pipeline()
        pipeline.add_component("vectors", self._vectors)
        pipeline.add_component("words", PgvectorKeywordRetriever(document_store=self._store))
        pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
        pipeline.connect("vectors", "joiner")
        pipeline.connect("words", "joiner")
        return pipeline
