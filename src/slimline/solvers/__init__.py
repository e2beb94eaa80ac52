"""Solvers of the small problem: losses with their conjugates, primal and dual variables, duality gap."""
