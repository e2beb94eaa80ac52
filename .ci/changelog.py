"""Refuse changelog fragments that towncrier would pass over in silence, and a changed library without any fragment.

Run in the root of the repository. What has changed is seen against the last release tag that the clone has; no branch
of a remote is needed, and where there is no tag that part is skipped.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

#: What git needs to keep the folder when a release has emptied it.
KEPT = (".gitignore", ".gitkeep")
RELEASE_TAGS = ("--match=v[0-9]*", "--match=[0-9]*")


def main() -> None:
    """Exit with what is wrong, if anything is."""
    settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    folder = Path(settings["directory"])
    types = [kind["directory"] for kind in settings["type"]]
    fragments = sorted(path for path in folder.glob("*") if path.name not in KEPT)
    wrong = [f"{path}: {reason}" for path in fragments if (reason := what_is_wrong(path, types))]
    if not fragments and (tag := release_without_fragment(settings["filename"])):
        wrong.append(f"src/ has changed since {tag}: say in {folder}/ what users will notice.")
    if wrong:
        sys.exit("\n".join(wrong))


def what_is_wrong(fragment: Path, types: list[str]) -> str:
    """Return why towncrier would not show a fragment as it is meant, or nothing."""
    kinds = "|".join(map(re.escape, types))
    if not re.fullmatch(rf"(\d+|\+[\w-]*)\.({kinds})(\.\d+)?\.md", fragment.name):
        return f"name it ISSUE.TYPE.md, or +WORD.TYPE.md without an issue; TYPE is one of {', '.join(types)}."
    if not fragment.read_text(encoding="utf-8").strip():
        return "it is empty."
    return ""


def release_without_fragment(news: str) -> str:
    """Return the last release tag, if the library has changed since and the news does not yet tell it."""
    if not (tag := git("describe", "--tags", "--abbrev=0", *RELEASE_TAGS)):
        print("no release tag in this clone: not checked whether the library changed without a fragment")
        return ""
    changed = git("diff", "--name-only", tag, "--", "src", news).splitlines()
    # a release in the making: its fragments have just become a part of the news
    return tag if changed and news not in changed else ""


def git(*words: str) -> str:
    """Return what git says; nothing if it fails."""
    return subprocess.run(["git", *words], capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
