"""Deterministic stand-ins that keep a provider's wire format: for trying Clara out and for tests."""
