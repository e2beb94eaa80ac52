"""Helpers that every subpackage may use: rounding analysis, checks, plain values."""
