"""Runs a function in a process of its own, where nothing that ran before has left memory behind."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any


def run_apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function of a module returns in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(function, *arguments).result()
