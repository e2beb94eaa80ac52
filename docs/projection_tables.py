"""Print the tables of benchmarks/results/projections.md from the JSON of `slimline bench projections`."""

import json
import sys
from pathlib import Path
from typing import Any

from slimline._base.text import format_bytes, format_ratio, format_seconds


def rows_of(case: dict[str, Any]) -> list[str]:
    """Return the lines of the table of a case."""
    lines = [
        "| contender | time | memory | speed | share of limit | time / fastest peer |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    peers = [c["best"] for c in case["contenders"] if c["role"] == "peer" and c["status"] == "measured"]
    for c in case["contenders"]:
        name = {"limit": "*{}*", "ours": "**{}**"}.get(c["role"], "{}").format(c["contender"])
        if c["status"] != "measured":
            lines.append(f"| {name} | {c['status']} | | | | |")
            continue
        memory = "" if c["role"] == "limit" else format_bytes(c["extra_bytes"])
        speed = f"{c['rate']:.3g} {c['unit']}" if c["rate"] else ""
        share = f"{c['share']:.0%}" if c["share"] else ""
        ratio = format_ratio(c["best"] / min(peers)) if c["role"] == "ours" and peers else ""
        lines.append(f"| {name} | {format_seconds(c['best'])} | {memory} | {speed} | {share} | {ratio} |")
    return lines


def page(results: dict[str, Any]) -> str:
    """Return all tables, and the targets that are missed."""
    lines: list[str] = []
    for case in results["cases"]:
        threads = "1 thread" if case["threads"] == 1 else f"{case['threads']} threads"
        lines += ["", f"## {case['title']}", "", f"{threads}.", "", *rows_of(case)]
    return "\n".join([*lines, "", *missed(results)]) + "\n"


def missed(results: dict[str, Any]) -> list[str]:
    """Return how many targets are met, and a line for each that is not."""
    targets = [(case["title"], target) for case in results["cases"] for target in case["targets"]]
    judged = [(title, target) for title, target in targets if target["met"] is not None]
    met = sum(target["met"] for _, target in judged)
    lines = [f"{met} of {len(judged)} targets are met, {len(targets) - len(judged)} not judged.", ""]
    for title, target in judged:
        if not target["met"]:
            value = target["value"]
            shown = {"share": f"{value:.0%}", "seconds": format_seconds(value)}.get(
                target["quantity"], format_ratio(value)
            )
            lines.append(f"- {title}: {target['contender']}, {target['text']}; measured {shown}.")
    return lines


if __name__ == "__main__":
    print(page(json.loads(Path(sys.argv[1]).read_text())), end="")
