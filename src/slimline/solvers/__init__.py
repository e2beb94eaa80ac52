"""Losses, and solvers of the small problem."""
