"""Remembering what was computed: keyed digests, sealed values, one computation at a time, and the same question again."""
