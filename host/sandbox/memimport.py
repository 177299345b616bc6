"""Imports from a blob of compiled modules in memory: the worker's half; `memlib` builds the blob. Opens nothing."""

from __future__ import annotations

import marshal
import mmap
import os
import struct
import sys
import zlib
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER
from types import CodeType, ModuleType
from typing import Any, NamedTuple

# magic, the interpreter's bytecode magic, bytes of the index, crc32 of all that follows. Then the index (marshal of
# {module: (is_package, offset, bytes)}, offsets from its end) and the marshalled code objects.
HEADER = struct.Struct("<8s4sII")
MAGIC = b"CAPLIB1\n"


class BlobError(ImportError):
    """The blob is not one, is damaged, or was made by another Python."""


class Entry(NamedTuple):
    """Where one module lies in the blob."""

    is_package: bool
    offset: int
    size_bytes: int


class Library:
    """The index of one blob and its bytes; `check` also compares the checksum, which reads all of it."""

    def __init__(self, fd: int, *, check: bool = False) -> None:
        size_bytes = os.fstat(fd).st_size
        if size_bytes < HEADER.size:
            raise BlobError("the module blob is too short")
        # Private, as a sealed memfd cannot be mapped shared before Linux 6.7; pages never written are shared anyway.
        self._bytes = mmap.mmap(fd, size_bytes, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
        magic, python, index_bytes, checksum = HEADER.unpack_from(self._bytes)
        if magic != MAGIC or python != MAGIC_NUMBER:
            raise BlobError("the module blob was made by another version")
        self._start = HEADER.size + index_bytes
        if check and zlib.crc32(memoryview(self._bytes)[HEADER.size :]) != checksum:
            raise BlobError("the module blob is damaged")
        self._index: dict[str, Entry] = marshal.loads(self._bytes[HEADER.size : self._start])

    def entry(self, name: str) -> Entry | None:
        """Where the module `name` lies, or None."""
        found = self._index.get(name)
        return None if found is None else Entry(*found)

    def code(self, entry: Entry) -> CodeType:
        """The compiled module."""
        begin = self._start + entry.offset
        code: CodeType = marshal.loads(self._bytes[begin : begin + entry.size_bytes])
        return code


class LibraryFinder:
    """The meta path entry (finder and loader in one) for the modules of a `Library`."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        entry = self._library.entry(name)
        if entry is None:
            return None
        # A loader by its methods: importlib.abc would cost a worker another import.
        return ModuleSpec(name, self, origin="<memory>", is_package=entry.is_package)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """See importlib.abc.Loader; the usual module will do."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """See importlib.abc.Loader."""
        entry = self._library.entry(module.__name__)
        if entry is None:
            raise BlobError(f"no module named {module.__name__!r} in the blob", name=module.__name__)
        exec(self._library.code(entry), module.__dict__)


class MissingFinder:
    """Says why an import nobody could satisfy has no chance in here. Asks the finders after it before it speaks."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Raises ModuleNotFoundError for a missing top-level module, on an import only (`find_spec` is told None)."""
        later: list[Any] = sys.meta_path[sys.meta_path.index(self) + 1 :] if self in sys.meta_path else []
        for finder in later:
            if (spec := finder.find_spec(name, path, target)) is not None:
                return spec  # type: ignore[no-any-return]  # finders are duck-typed
        if "." in name or not _is_import():
            return None
        raise ModuleNotFoundError(f"No module named {name!r}: {_reason(name)}", name=name)


def _is_import() -> bool:
    # find_spec <- importlib's _find_spec <- _find_and_load_unlocked; or importlib.util.find_spec: somebody only asks.
    return sys._getframe(3).f_code.co_name == "_find_and_load_unlocked"


def _reason(name: str) -> str:
    if name in sys.stdlib_module_names:
        return "this part of the standard library needs what the sandbox takes away"
    return "third-party packages are not available in the sandbox"


def install(fd: int) -> None:
    """Import from the blob behind `fd` first, from the paths next; explain what is missing last."""
    sys.meta_path.insert(0, LibraryFinder(Library(fd)))
    sys.meta_path.append(MissingFinder())
