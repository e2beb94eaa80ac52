"""The kernels as other compilers and other machines see them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "slimline" / "_kernels" / "cpp"
CHECK = Path(__file__).parent / "cross" / "check.cpp"
KERNELS = re.search(r"^set\(KERNELS([^)]*)\)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1].split()

# The bits that define R, from the program's own report: the same on every architecture.
EXPECTED = {
    "normal": "4923cb1e5783c320",
    "sign": "41e6180a3fe986aa",
    "sparse_sign": "27f148c1887c8503",
    "sign_bits": "417a01190a8f2afd",
    "grouped_table_s1_a1_v1": "0af13319b60c22cf",
    "grouped_table_s1_a1_v1_far": "65346cde275fc27d",
    "independent_table_s1_a1_v1": "1544ccdf786f33cb",
    "independent_table_s1_a1_v1_far": "bcbd1021c54e2d3e",
    "grouped_table_s4_a1_v1": "d63cd6ca7925de62",
    "grouped_table_s4_a1_v1_far": "334b06900730d9aa",
    "independent_table_s4_a1_v1": "1790fa903ce7b71e",
    "independent_table_s4_a1_v1_far": "b76732c734fdb8e9",
    "grouped_table_s1_a7_v1": "4e4b806fa7454801",
    "grouped_table_s1_a7_v1_far": "b3097d18bbd51ac7",
    "independent_table_s1_a7_v1": "31af0ff8381c0492",
    "independent_table_s1_a7_v1_far": "b836d66e748b8862",
    "grouped_table_s4_a7_v1": "611a01f0c4ac37ca",
    "grouped_table_s4_a7_v1_far": "9cb4b8d3801f0e7f",
    "independent_table_s4_a7_v1": "5addcc8aa60f9137",
    "independent_table_s4_a7_v1_far": "e303361b2c525521",
    "grouped_table_s1_a6_v3": "2f0d40e7c3419aaa",
    "grouped_table_s1_a6_v3_far": "39d5f247020af9d5",
    "independent_table_s1_a6_v3": "21801377386b5cec",
    "independent_table_s1_a6_v3_far": "5e9f1362364049bf",
    "grouped_table_s4_a1_v3": "7f6790f188c58cae",
    "grouped_table_s4_a1_v3_far": "f7661bac6c780272",
    "independent_table_s4_a1_v3": "fb334d03de00b8d8",
    "independent_table_s4_a1_v3_far": "5454dc9865471dae",
}

# What this machine's own compiler makes is in the module, which every other test here runs.
BUILDS = {"arm64": ("aarch64-linux-gnu-g++", ["qemu-aarch64-static"]), "clang": ("clang++", [])}


def _build(directory: Path, compiler: str) -> Path:
    # -O2 takes half as long again, and what is tested is the source as other compilers read it
    common = ["-std=c++17", "-O1", "-ffp-contract=off", "-fno-math-errno", "-Wall", "-Wextra", "-Werror"]
    objects = []
    for name in KERNELS:
        target = directory / f"{Path(name).name}.o"
        source = str(SOURCES / f"{name}.cpp")
        subprocess.run(
            [compiler, *common, f"-I{SOURCES}", "-DSLIMLINE_ISA=baseline", "-c", source, "-o", str(target)], check=True
        )
        objects.append(str(target))
    program = directory / "check"
    options = ["-static", f"-I{SOURCES}", "-DCHECKED=baseline"]
    subprocess.run([compiler, *common, *options, str(CHECK), *objects, "-o", str(program)], check=True)
    return program


@pytest.mark.parametrize("build", BUILDS)
def test_kernels_compile_and_agree_elsewhere(build: str, tmp_path: Path) -> None:
    compiler, emulator = BUILDS[build]
    for tool in (compiler, *emulator):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    program = _build(tmp_path, compiler)
    report = subprocess.run([*emulator, str(program)], capture_output=True, text=True, check=False)
    assert report.returncode == 0, [line for line in report.stdout.splitlines() if "WRONG" in line]
    hashes = [line.split() for line in report.stdout.splitlines() if not line.startswith("#")]
    assert len(hashes) == len(EXPECTED) and dict(hashes) == EXPECTED
