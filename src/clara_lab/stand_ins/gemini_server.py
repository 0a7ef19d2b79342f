"""The model stand-in as a command, to try Clara with a Gemini that answers, and with one that fails.

    python -m clara_lab.stand_ins.gemini_server --port 8790 --fault quota-second --fault hang

Then start Clara with GEMINI_BASE_URL=http://127.0.0.1:8790, any GEMINI_API_KEY and RAG_WRITER=gemini.
"""

from clara.adapters.models.scripted import ScriptedWriter
from clara.answering.ports import ModelUnavailableError, Prompt
from clara_lab.stand_ins.model_server import command
from clara_lab.stand_ins.speech import embedding_faults, faults_of, quote


def tell(instruction: str, page: str) -> str:
    """Write from the facts on the page; a page without facts is quoted."""
    try:
        return ScriptedWriter().write(Prompt(instruction, page), 1.0)
    except ModelUnavailableError:
        return quote(instruction, page)


if __name__ == "__main__":
    command({**faults_of("gemini"), **embedding_faults(1)}, 8790, "Gemini's stand-in serves at {url}", tell)()
