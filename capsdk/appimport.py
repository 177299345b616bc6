"""Imports an app's own modules from the sources that came over the socket. Opens nothing and runs nothing by itself."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType


class AppFinder:
    """The meta path entry (finder and loader in one) for `{relative path: source}`; folders are packages."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._paths: dict[str, str | None] = {}
        self._sources = {path: source for path, source in files.items() if path.endswith(".py")}
        for path in self._sources:
            self._add(path)

    @property
    def paths(self) -> frozenset[str]:
        """The file names that tracebacks of the app's code carry."""
        return frozenset(self._sources)

    def install(self) -> None:
        """Import the app's modules before all others, and let tracebacks find their lines. Once a process."""
        for path, source in self._sources.items():
            # No modification time: linecache then never asks the file system whether its copy is fresh.
            linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
        sys.meta_path.insert(0, self)  # by its methods: importlib.abc would cost a worker another import

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        if name not in self._paths:
            return None
        file = self._paths[name]
        is_package = file is None or file.endswith("__init__.py")
        spec = ModuleSpec(name, self, origin=file, is_package=is_package)  # type: ignore[arg-type]
        spec.has_location = file is not None
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """See importlib.abc.Loader; the usual module will do."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """See importlib.abc.Loader. Raises what the module raises, SyntaxError with the author's line."""
        file = self._paths[module.__name__]
        if file is not None:
            exec(_compiled(self._sources[file], file), module.__dict__)

    def get_source(self, name: str) -> str | None:
        """See importlib.abc.InspectLoader."""
        file = self._paths.get(name)
        return None if file is None else self._sources[file]

    def _add(self, path: str) -> None:
        parts = path.removesuffix(".py").split("/")
        if parts[-1] == "__init__":
            parts.pop()
        for depth in range(1, len(parts)):
            self._paths.setdefault(".".join(parts[:depth]), None)  # a folder without an __init__.py
        if parts:
            self._paths[".".join(parts)] = path


def _compiled(source: str, file: str) -> CodeType:
    try:
        return compile(source, file, "exec", dont_inherit=True)
    except SyntaxError as problem:  # Python looks some of this up in the file, and there is none
        if problem.filename is None:
            problem.filename, problem.lineno = file, source.partition("\0")[0].count("\n") + 1
        if problem.text is None and problem.lineno:
            problem.text = linecache.getline(file, problem.lineno)
        raise


def module_name(path: str) -> str:
    """The module that the file `path` is imported as: `steps/login.py` is `steps.login`."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
