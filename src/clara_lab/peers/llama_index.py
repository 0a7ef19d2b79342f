"""LlamaIndex's PGVectorStore (llama-index-vector-stores-postgres) and retrievers, as its documentation joins them."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from llama_index.core import MockEmbedding, QueryBundle, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import VectorStoreQueryMode
from llama_index.vector_stores.postgres import PGVectorStore

from clara_lab.bench.dataset import BenchDocument
from clara_lab.bench.peers import HYBRID, LEG, Floats, PeerSetting, content_of

# The values of the documentation.
HNSW: Final = {"hnsw_m": 16, "hnsw_ef_construction": 64, "hnsw_ef_search": 40, "hnsw_dist_method": "vector_cosine_ops"}


class LlamaIndexPeer:
    """A retriever of vectors; for the hybrid search one of words beside it, fused by relative scores."""

    def __init__(self, setting: PeerSetting) -> None:
        self._hybrid = setting.way == HYBRID
        self._store = PGVectorStore.from_params(
            connection_string=setting.url.replace("postgresql://", "postgresql+psycopg2://", 1),
            async_connection_string=setting.url.replace("postgresql://", "postgresql+asyncpg://", 1),
            table_name="documents",
            embed_dim=setting.dimensions,
            hybrid_search=self._hybrid,
            text_search_config=setting.dictionary,
            hnsw_kwargs=dict(HNSW),
        )
        # Questions come with their vectors, and nothing is written: neither stand-in is ever asked.
        self._index = VectorStoreIndex.from_vector_store(self._store, embed_model=MockEmbedding(setting.dimensions))
        self._retrievers: dict[int, Any] = {}

    def load(self, documents: Sequence[BenchDocument], vectors: Floats) -> None:
        """Add the documents as nodes; the index is made with the table, and grows with every row."""
        nodes = [
            TextNode(id_=document.id, text=content_of(document), embedding=vector)
            for document, vector in zip(documents, vectors.tolist(), strict=True)
        ]
        self._index.insert_nodes(nodes)

    def search(self, text: str, vector: Sequence[float], limit: int) -> list[str]:
        """Ask the retriever."""
        found = self._retriever(limit).retrieve(QueryBundle(text, embedding=list(vector)))
        return [str(one.node.node_id) for one in found]

    def close(self) -> None:
        """Close the pool."""
        asyncio.run(self._store.close())

    def _retriever(self, limit: int) -> Any:  # noqa: ANN401  the framework's types are not there where this is checked
        if limit not in self._retrievers:
            self._retrievers[limit] = self._fused(limit) if self._hybrid else self._index.as_retriever(similarity_top_k=limit)
        return self._retrievers[limit]

    def _fused(self, limit: int) -> QueryFusionRetriever:
        vectors = self._index.as_retriever(vector_store_query_mode=VectorStoreQueryMode.DEFAULT, similarity_top_k=LEG)
        # Of the words, `sparse_top_k` is how many there are.
        words = self._index.as_retriever(
            vector_store_query_mode=VectorStoreQueryMode.SPARSE, similarity_top_k=LEG, sparse_top_k=LEG
        )
        return QueryFusionRetriever(
            [vectors, words],
            llm=MockLLM(),
            similarity_top_k=limit,
            num_queries=1,  # the question as it is, none made up beside it
            mode="relative_score",
            use_async=False,
        )
