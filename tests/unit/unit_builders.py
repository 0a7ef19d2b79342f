"""Small passages and hits with sensible values, for tests that care about one or two of them."""

from clara.retrieval.passage import Hit, Passage

SOURCE = {"url": "https://sede.example/tramite", "seen_on": "2026-07-08", "dated": None, "official": True}


def passage_of(name: str = "nie-plazos-01", text: str = "La cita dura diez minutos.", **changes: object) -> Passage:
    """Make a passage whose id tells document, section and place: "nie-plazos-01"."""
    document, section, place = name.split("-")
    metadata = {
        "place": changes.pop("place", int(place)),
        "certainty": changes.pop("certainty", "official"),
        "sources": changes.pop("sources", [SOURCE]),
        "legal_basis": [],
    }
    values = {
        "id": name,
        "corpus": "clara",
        "collection": "curado",
        "document_id": document,
        "section": section,
        "heading": (document.upper(), section),
        "text": text,
        "language": "es",
        "metadata": metadata,
    }
    return Passage(**{**values, **changes})


def hit_of(name: str = "nie-plazos-01", score: float = 1.0, text: str = "La cita dura diez minutos.", **changes: object) -> Hit:
    """Make a hit on such a passage."""
    return Hit(passage_of(name, text, **changes), score)
