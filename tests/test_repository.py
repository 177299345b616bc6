"""Facts about the repository itself: what is locked, what is declared, what a wheel holds; not how it behaves."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT_TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PYPROJECT: dict[str, Any] = tomllib.loads(PYPROJECT_TEXT)
LOCK_TEXT = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PACKAGES = ("capsdk", "host")


def declared_requirements() -> list[str]:
    """Every requirement line of pyproject.toml, whoever it is for."""
    project = PYPROJECT["project"]
    groups = [*project["optional-dependencies"].values(), *PYPROJECT["dependency-groups"].values()]
    listed = [line for group in groups for line in group if isinstance(line, str)]
    return sorted({*project["dependencies"], *PYPROJECT["build-system"]["requires"], *listed})


def locked_requirements() -> list[tuple[str, str, int]]:
    """(name, version, number of hashes) of each entry of the lock file; fails on a line of another kind."""
    joined = re.sub(r"\\\n", " ", LOCK_TEXT)
    lines = [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found = [re.match(r"([A-Za-z0-9._-]+)==(\S+)", line) for line in lines]
    strays = [line for line, match in zip(lines, found, strict=True) if match is None]
    assert strays == []
    return [
        (canonicalize_name(match[1]), match[2], line.count("--hash=sha256:"))
        for line, match in zip(lines, found, strict=True)
        if match is not None
    ]


def test_everything_in_the_lock_is_pinned_and_hashed() -> None:
    locked = locked_requirements()
    assert len(locked) > 10
    assert [name for name, _, hashes in locked if hashes == 0] == []


def test_the_lock_names_no_place_to_fetch_from() -> None:
    assert re.findall(r"\S*://\S*|--(?:extra-)?index-url\S*|--find-links\S*|--trusted-host\S*", LOCK_TEXT) == []


@pytest.mark.parametrize("line", declared_requirements())
def test_a_declared_requirement_is_locked_within_its_range(line: str) -> None:
    requirement = Requirement(line)
    versions = [version for name, version, _ in locked_requirements() if name == canonicalize_name(requirement.name)]
    assert versions  # one for each Python, where a package is not made for all
    assert [version for version in versions if not requirement.specifier.contains(version)] == []


@pytest.mark.parametrize("line", declared_requirements())
def test_a_dependency_has_its_reason_beside_it(line: str) -> None:
    places = [text for text in PYPROJECT_TEXT.splitlines() if f'"{line}"' in text]
    assert any(re.search(r"#\s+\w.{9,}", text) for text in places)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The distribution as others install it, built by the locked backend."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def test_the_bare_install_depends_on_nothing(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    requirements = message_from_bytes(wheel.read(name)).get_all("Requires-Dist", [])
    unconditional = [line for line in requirements if "extra ==" not in str(Requirement(line).marker)]
    assert requirements != []
    assert unconditional == []


def test_the_wheel_holds_the_packages_with_their_data_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*"))
    on_disk = {path.relative_to(ROOT).as_posix() for path in files if path.is_file()}
    assert inside == {name for name in on_disk if "__pycache__" not in name}
    assert {"capsdk/py.typed", "host/py.typed"} <= inside


def imported_roots(path: Path) -> set[str]:
    """The first names of what a file imports from elsewhere, wherever in the file it does so."""
    roots: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            roots.add(node.module.partition(".")[0])
    return roots


def test_capsdk_imports_only_the_standard_library() -> None:
    allowed = {*sys.stdlib_module_names, "capsdk"}
    files = sorted((ROOT / "capsdk").rglob("*.py"))
    assert files != []
    assert {str(path): imported_roots(path) - allowed for path in files if imported_roots(path) - allowed} == {}


@pytest.mark.parametrize("module", ["capsdk", "host.main"])
def test_a_module_of_the_bare_install_can_be_imported_without_any_package(module: str) -> None:
    # -S leaves out site-packages: what is found there must not be needed.
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {module}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_module_of_the_host_says_what_it_is_for() -> None:
    files = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    silent = [str(path) for path in files if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert silent == []


@pytest.mark.parametrize("name", ["dev", ".ci/run"])
def test_a_script_of_the_checkout_can_be_started(name: str) -> None:
    assert os.access(ROOT / name, os.X_OK)
    assert (ROOT / name).read_bytes().startswith(b"#!")


def test_continuous_integration_runs_what_everybody_runs() -> None:
    lines = (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line and not line.startswith("#")][-1] == "exec ./dev test"


def licence(package: Distribution) -> str:
    """What a package says of its licence: the expression, else the text's beginning and the classifiers."""
    data = package.metadata
    told = data.get_all("License-Expression", []) + [text[:80] for text in data.get_all("License", [])]
    return " ".join([*told, *(one for one in data.get_all("Classifier", []) if one.startswith("License"))])


def test_nothing_that_comes_with_it_is_under_the_gpl() -> None:
    ours = {name for name, _, _ in locked_requirements()}
    told = {name: licence(one) for one in distributions() if (name := canonicalize_name(one.metadata["Name"])) in ours}
    assert len(told) > 60  # the control: they are installed, and each says something
    assert [name for name, text in told.items() if not text.strip()] == []
    assert [name for name, text in told.items() if re.search(r"\bA?GPL|GNU (?:Affero )?General", text)] == []
