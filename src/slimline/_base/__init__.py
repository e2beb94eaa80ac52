"""Helpers that know nothing of data or models: threads, memory, text, files."""
