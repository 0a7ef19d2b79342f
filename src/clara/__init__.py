"""Clara answers questions about Spanish public procedures on WhatsApp, from evidence it can show."""

__version__ = "0.1.0"
