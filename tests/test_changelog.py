"""The check of the changelog fragments, in repositories made up for it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


class Repository:
    def __init__(self, folder):
        self.folder = folder
        for name in ("src", "changelog.d"):
            (folder / name).mkdir()
        shutil.copy(ROOT / "pyproject.toml", folder)
        self.write("src/library.py", "one = 1")
        self.write("CHANGELOG.md", "nothing yet")
        self.git("init", "-q")
        self.commit()

    def git(self, *words):
        identity = ["-c", "user.name=someone", "-c", "user.email=someone@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "-q", "-m", "a change")

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def check(self):
        """Return the exit code and all that was said."""
        command = [sys.executable, ROOT / ".ci" / "changelog.py"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path):
    if not (ROOT / ".ci" / "changelog.py").exists() or shutil.which("git") is None:
        pytest.skip("needs git and the whole repository")
    return Repository(tmp_path)


@pytest.mark.parametrize("name", ["12.feature.md", "12.fix.1.md", "+word.change.md", ".gitkeep"])
def test_good_names(repository, name):
    repository.write(f"changelog.d/{name}", "Something new." if name != ".gitkeep" else "")
    assert repository.check()[0] == 0


@pytest.mark.parametrize(
    "name", ["12.nonsense.md", "12.md", "word.feature.md", "12.feature.txt", "12.feature", "README"]
)
def test_bad_names(repository, name):
    repository.write(f"changelog.d/{name}", "Something new.")
    code, said = repository.check()
    assert code == 1
    assert f"changelog.d/{name}" in said and "feature, change, fix" in said


def test_empty_fragment(repository):
    repository.write("changelog.d/12.fix.md", "\n")
    assert repository.check() == (1, "changelog.d/12.fix.md: it is empty.\n")


def test_without_a_tag_nothing_is_asked_for(repository):
    code, said = repository.check()
    assert code == 0 and "no release tag" in said


def test_a_changed_library_needs_a_fragment(repository):
    repository.git("tag", "v0.1.0")
    assert repository.check() == (0, "")
    repository.write("pyproject.toml", (ROOT / "pyproject.toml").read_text(encoding="utf-8") + "\n# no code")
    repository.commit()
    assert repository.check() == (0, "")
    repository.write("src/library.py", "one = 2")
    repository.commit()
    code, said = repository.check()
    assert code == 1 and "src/ has changed since v0.1.0" in said
    repository.write("changelog.d/3.fix.md", "One is two.")
    assert repository.check() == (0, "")


def test_a_release_takes_its_fragments_away(repository):
    repository.git("tag", "v0.1.0")
    repository.write("src/library.py", "one = 2")
    repository.write("CHANGELOG.md", "One is two.")
    repository.commit()
    assert repository.check() == (0, "")
