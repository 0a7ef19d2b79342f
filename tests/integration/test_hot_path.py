"""What a process that answers people with the default settings loads, and what it does without."""

import json
import subprocess
import sys

from clara.settings import child_environment

ASKING = """
import json, sys
from clara.container import get_retriever, reset_retriever
from clara.retrieval.passage import Query

found = get_retriever()(Query("¿cuánto se cobra de ingreso mínimo vital?", "clara"))
reset_retriever()
print(json.dumps({"status": found.status, "tier": found.tier, "modules": sorted(sys.modules)}))
"""


def test_the_default_search_loads_no_option(knowledge_url: str) -> None:
    """A question is answered by PostgreSQL without any module of `retrieval.options`: what is not asked for is not loaded."""
    environment = {name: value for name, value in child_environment().items() if not name.startswith(("RAG_", "RERANKER_"))}
    asked = subprocess.run(
        [sys.executable, "-c", ASKING],
        env={**environment, "RAG_DB_URL": knowledge_url},
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    said = json.loads(asked.stdout.splitlines()[-1])
    assert (said["status"], said["tier"]) == ("found", "pgvector")
    assert [name for name in said["modules"] if name.startswith("clara.retrieval.options.")] == []
