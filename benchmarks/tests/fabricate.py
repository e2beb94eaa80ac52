"""Records and cases made up for the tests."""

from slimline_benchmarks import Case, CaseResult, Contender, Measurement, Report, Target, Work

MACHINE = {
    "cpu": "a CPU",
    "cpus": 2,
    "threads": 1,
    "instruction_set": "baseline",
    "memory_bytes": 8_000_000_000,
    "libraries": {"slimline": "0", "numpy": "2"},
}


def fabricated_case(**changes) -> CaseResult:
    """One of ours at 10 ms and 1.5 GB/s, a limit at 3 GB/s, a peer at 40 ms, one skipped, one absent."""
    fields = {
        "name": "made-up",
        "title": "nothing at all",
        "input_bytes": 30_000_000,
        "threads": 1,
        "measurements": (
            Measurement("limit", "limit", seconds=(0.012, 0.010), amount=0.03, unit="GB/s"),
            Measurement(
                "ours",
                "ours",
                seconds=(0.03, 0.02, 0.025),
                extra_bytes=5_000_000,
                amount=0.03,
                unit="GB/s",
                limit="limit",
            ),
            Measurement("peer", "peer", seconds=(0.04, 0.05), extra_bytes=60_000_000),
            Measurement("large", "peer", status="skipped", note="needs about 99.0 GB, 1.0 GB are free"),
            Measurement("missing", "peer", status="absent", note="missing is not installed"),
        ),
        "targets": (
            Target("ours", "ratio", 0.6, "peer"),
            Target("ours", "ratio", 0.4, "large"),
            Target("ours", "share", 0.8),
            Target("ours", "rate", 1.0),
            Target("ours", "memory", 4e6),
            Target("ours", "seconds", 0.02),
        ),
    }
    return CaseResult(**(fields | changes))


def fabricated_report() -> Report:
    skipped = fabricated_case(name="too-large", measurements=(), targets=(), skipped="needs about 99.0 GB")
    return Report("made up", MACHINE, {"repeats": 3}, (fabricated_case(), skipped))


def small_case(*contenders: Contender, **fields) -> Case:
    return Case("small", "a small case", lambda: [1, 2, 3], contenders, 24, **fields)


def summing(name: str = "ours", role: str = "ours", **fields) -> Contender:
    return Contender(name, role, sum, work=Work(1.0, "GB/s"), **fields)
