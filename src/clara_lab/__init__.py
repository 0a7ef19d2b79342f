"""The laboratory: what measures, trains and imitates beside Clara. It imports `clara`, which never imports it."""
