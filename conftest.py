"""Fixtures that all tests share."""

import gc
import os
import time
from pathlib import Path
from types import SimpleNamespace

if "PYTEST_XDIST_WORKER" in os.environ:  # before NumPy is imported: the workers share the cores already
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from threadpoolctl import threadpool_limits


def _seeds() -> list[int]:
    """Return the seeds of the random tests: 0, or those of SLIMLINE_TEST_SEEDS ("0-9", "3,7", "all" for 0 to 99)."""
    text = os.environ.get("SLIMLINE_TEST_SEEDS", "0")
    if text == "all":
        return list(range(100))
    if "-" in text:
        first, last = text.split("-")
        return list(range(int(first), int(last) + 1))
    return [int(part) for part in text.split(",")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "global_random_seed" in metafunc.fixturenames:
        first, *others = _seeds()
        more = [pytest.param(seed, marks=pytest.mark.nightly) for seed in others]
        metafunc.parametrize("global_random_seed", [first, *more])


@pytest.fixture(autouse=True, scope="session")
def _one_thread_in_blas():
    # OpenBLAS spins while it waits, so on a busy machine small products take a hundred times as long with threads.
    with threadpool_limits(1, user_api="blas"):
        yield


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the public data sets."""
    folder = os.environ.get("SLIMLINE_DATA")
    if not folder:
        pytest.skip("SLIMLINE_DATA is not set: point it to the folder of the public data sets")
    if not Path(folder).is_dir():
        pytest.fail(f"SLIMLINE_DATA={folder} is not a folder")
    return Path(folder)


_begun = time.monotonic()
_no_seed = SimpleNamespace(params={})


def pytest_runtest_setup() -> None:
    """Skip what is left when SLIMLINE_TEST_SECONDS are over."""
    if time.monotonic() - _begun > float(os.environ.get("SLIMLINE_TEST_SECONDS", "inf")):
        pytest.skip("SLIMLINE_TEST_SECONDS are over")


def _mark_fast_tier(items: list[pytest.Item]) -> None:
    """Mark the first case of each test `fast`, unless the test or that case is `slow` or `nightly`."""
    begun = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if item.get_closest_marker("slow") or item.get_closest_marker("nightly"):
            if item.get_closest_marker("fast"):
                raise pytest.UsageError(f"{item.nodeid} is marked fast, but also slow or nightly")
        elif test not in begun:
            begun.add(test)
            item.add_marker("fast")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Where SLIMLINE_FAST_SECONDS is set, list the tests of the fast tier that took longer than that."""
    limit = float(os.environ.get("SLIMLINE_FAST_SECONDS", "inf"))
    for report in terminalreporter.getreports("passed"):
        if "fast" in report.keywords and report.duration > limit:
            terminalreporter.write_line(f"too slow for the fast tier: {report.duration:.1f} s, {report.nodeid}")


_data_tests_passed = 0
_USES_DATA = ("uses", "data sets")


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _mark_fast_tier(items)
    items.sort(key=lambda item: getattr(item, "callspec", _no_seed).params.get("global_random_seed", 0))
    for item in items:
        if item.get_closest_marker("data"):
            item.user_properties.append(_USES_DATA)  # unlike a keyword, no folder of the same name has it


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    # Thousands of tests are millions of objects, and every full collection of garbage would look through them: a third
    # of a second each time, here and before each measurement of memory.
    gc.disable()
    collected = yield
    gc.collect()
    gc.freeze()
    gc.enable()
    return collected


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    global _data_tests_passed
    _data_tests_passed += report.when == "call" and report.passed and _USES_DATA in map(tuple, report.user_properties)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where the data sets are said to be there, a run that used none of them has failed."""
    if os.environ.get("SLIMLINE_REQUIRE_DATA") and not _data_tests_passed:
        print("\nSLIMLINE_REQUIRE_DATA is set, but no test that needs the data sets ran")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
