"""The official gazette: consolidated law, daily summaries, single items; read safely from XML and JSON."""
