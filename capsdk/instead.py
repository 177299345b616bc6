"""What a script uses instead of what the sandbox takes away: one piece of advice for each refusal. Refuses nothing."""

from __future__ import annotations

import builtins
import errno
import linecache
import os
import re
import socket
from collections.abc import Collection, Mapping
from typing import NamedTuple, NoReturn

from capsdk.ownlines import Place, frames_of, place_of

AWAIT = "a coroutine does nothing until it is awaited; write `await` before the call"
DATABASE = "a script has no files, so no database; keep rows in lists and dicts and return them with `Result.ok(rows)`"
DATACLASSES = "third-party packages are not available; use dataclasses"
DATES = "third-party packages are not available; use datetime, with datetime.timezone for a fixed offset"
ENVIRONMENT = "a script has no environment variables; what it is to know comes as `input`"
FILES = "a script cannot open files; read a file of its app folder with `await ctx.asset(path)`"
KEYBOARD = "nobody sits at a script's keyboard; what it is to know comes as `input`, see `capsdk run --input`"
LOOP = "`main` already runs in an event loop; write `await …` instead of starting another one"
MACHINE_CODE = "third-party packages are not available, and none with machine code can be; use csv, statistics, decimal"
NETWORK = (
    "a script has no network of its own; let a page load it: `async with ctx.browser.page(url) as tab`, then "
    "`await tab.response(origin=…, path=…)` or `await tab.evaluate(…)`"
)
OTHER = (
    "a script has no files, network or processes; call the browser with `ctx.browser` or `ctx.cap.call`, "
    "read files of its app folder with `ctx.asset`"
)
RETURN = "let `main` end with `return Result.ok(rows)`, or one of Result.partial, empty, blocked and failed"
PARSER = "third-party packages are not available; read the page itself with `await tab.evaluate(…)`, or use html.parser"
PROCESSES = "a script cannot start processes; do it in Python, or let a page do it with `ctx.browser`"
SETTINGS_FILES = "third-party packages are not available; use json or tomllib on what `await ctx.asset(path)` returns"
TABS = "a script is lent tabs and has no browser to drive; use `async with ctx.browser.page(url) as tab`"
TEMPORARY = "a script has no temporary files; keep it in memory with io.BytesIO or io.StringIO"
THREADS = "a script cannot start threads; use asyncio tasks: `async with asyncio.TaskGroup() as group`"
TIME_ZONES = (
    "a script has no time zone files; use datetime.timezone with an offset, or let a page convert: "
    "`await tab.evaluate(…)` with Intl.DateTimeFormat"
)


class Via(NamedTuple):
    """A function of the standard library that an author called, by module and names (none: all), and its advice."""

    module: str
    names: frozenset[str]
    advice: str


_CONNECTS = frozenset(("create_connection", "create_datagram_endpoint", "create_server", "getaddrinfo", "getnameinfo"))

# Looked up from the author's own line inwards, so the first hit is what they called and not what that came down to.
VIA = (
    Via("asyncio.base_events", _CONNECTS, NETWORK),  # asks a thread for the address
    Via("asyncio.unix_events", frozenset(("create_unix_connection", "create_unix_server")), NETWORK),
    Via("capsdk.instead", frozenset(("system",)), PROCESSES),
    Via("concurrent.futures.thread", frozenset(), THREADS),
    Via("getpass", frozenset(), KEYBOARD),
    Via("http.client", frozenset(), NETWORK),
    Via("os", frozenset(("__getitem__",)), ENVIRONMENT),  # of os.environ
    Via("os", frozenset(("_spawnvef", "popen")), PROCESSES),
    Via("pty", frozenset(), PROCESSES),
    Via("socket", frozenset(), NETWORK),
    Via("subprocess", frozenset(), PROCESSES),
    Via("tempfile", frozenset(), TEMPORARY),
    Via("threading", frozenset(), THREADS),
    Via("urllib.request", frozenset(), NETWORK),
    Via("zoneinfo._common", frozenset(), TIME_ZONES),
)

# Modules that are asked for most, by their first name. Others of the standard library get OTHER.
MODULES: Mapping[str, str] = {
    "_multiprocessing": PROCESSES,
    "_posixshmem": PROCESSES,
    "_ssl": NETWORK,
    "aiohttp": NETWORK,
    "arrow": DATES,
    "attr": DATACLASSES,
    "attrs": DATACLASSES,
    "bs4": PARSER,
    "curl_cffi": NETWORK,
    "dateutil": DATES,
    "dbm": DATABASE,
    "dotenv": ENVIRONMENT,
    "httpx": NETWORK,
    "lxml": PARSER,
    "multiprocessing": PROCESSES,
    "numpy": MACHINE_CODE,
    "pandas": MACHINE_CODE,
    "parsel": PARSER,
    "pendulum": DATES,
    "playwright": TABS,
    "polars": MACHINE_CODE,
    "pydantic": DATACLASSES,
    "pyppeteer": TABS,
    "pytz": DATES,
    "requests": NETWORK,
    "selenium": TABS,
    "sqlite3": DATABASE,
    "ssl": NETWORK,
    "tzdata": TIME_ZONES,
    "urllib3": NETWORK,
    "websocket": NETWORK,
    "websockets": NETWORK,
    "wsgiref": NETWORK,
    "yaml": SETTINGS_FILES,
}

_REFUSED_ERRNOS = frozenset((errno.EPERM, errno.EACCES, errno.ENOSYS))
_STARTS_PROCESS = re.compile(r"\bos\.(exec|fork|posix_spawn|spawn)")
_COROUTINE = re.compile(r"'coroutine'|type coroutine\b")
_CANNOT_IMPORT = re.compile(r"cannot import name '([^']+)' from '([^']+)'")


def refuse_processes() -> None:
    """Let `os.system` raise as the other ways to a process do: by itself it only returns a status nobody looks at."""
    os.system = system


def system(command: object) -> NoReturn:
    """Stands in for `os.system`. Raises PermissionError."""
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


def advice(error: BaseException, paths: Collection[str]) -> str | None:
    """What the author of the files `paths` does instead, or None when nothing of the sandbox is behind `error`."""
    if isinstance(error, ImportError):
        return _about_import(error, paths)
    if isinstance(error, builtins.OSError | EOFError | KeyError):
        return _about_refusal(error, paths)
    text = str(error)
    if isinstance(error, RuntimeError):
        if "start new thread" in text:
            return _via(error, paths) or THREADS
        return LOOP if "running event loop" in text or "already running" in text else None
    if isinstance(error, NameError) and error.name in ("exit", "quit"):
        return RETURN
    if isinstance(error, AttributeError) and "HTTPSConnection" in text:
        return NETWORK  # http.client has none without ssl
    return AWAIT if isinstance(error, AttributeError | TypeError) and _COROUTINE.search(text) else None


def _about_refusal(error: BaseException, paths: Collection[str]) -> str | None:
    if (via := _via(error, paths)) is not None:
        return via
    if isinstance(error, EOFError):
        return KEYBOARD
    if isinstance(error, socket.gaierror):
        return NETWORK
    if not isinstance(error, builtins.OSError) or error.errno not in _REFUSED_ERRNOS:
        return None
    if _STARTS_PROCESS.search(_source_line(place_of(error, paths))):
        return PROCESSES
    return OTHER if error.filename is None else FILES


def _via(error: BaseException, paths: Collection[str]) -> str | None:
    """The advice for what the author's innermost line has called."""
    called: list[tuple[str, str]] = []
    for frame, _ in frames_of(error.__traceback__):
        if frame.f_code.co_filename in paths:
            called = []
        else:
            called.append((str(frame.f_globals.get("__name__")), frame.f_code.co_name))
    for module, name in called:
        for via in VIA:
            if module == via.module and (not via.names or name in via.names):
                return via.advice
    return None


def _source_line(place: Place | None) -> str:
    return "" if place is None else linecache.getline(place.file, place.line)


def _about_import(error: ImportError, paths: Collection[str]) -> str | None:
    text = str(error)
    if "no known parent package" in text:
        return "the entry lies at the top of the app folder; write `import name` instead of `from . import name`"
    if not isinstance(error, ModuleNotFoundError):
        asked = _CANNOT_IMPORT.search(text)
        if asked is None:
            return None
        if asked[2] == "http.client":
            return NETWORK
        return _missing_file(f"{asked[2]}.{asked[1]}", paths) if _is_package(asked[2], paths) else None
    name = error.name or ""
    top, _, rest = name.partition(".")
    if rest:
        return _missing_file(name, paths) if _is_package(top, paths) else None
    if name in MODULES and not _elsewhere(name, paths):
        return MODULES[name]
    if "standard library" in text:
        return OTHER
    if _near(name, paths):
        return _missing_file(name, paths)
    absent = f"it has no {name}.py and no {name}/__init__.py"
    return f"third-party packages are not available; pure-Python modules in the app folder are, and {absent}"


def _missing_file(name: str, paths: Collection[str]) -> str:
    """Which file of the app folder would have to be there, and which one is and may be meant."""
    wanted = name.replace(".", "/")
    near = _near(name, paths)
    meant = f"; {near} is there" if near else ""
    return f"the app folder has no {wanted}.py and no {wanted}/__init__.py{meant}; add it, or mend the name"


def _near(name: str, paths: Collection[str]) -> str | None:
    """The file of the app that is named almost so, or so in another folder."""
    import difflib  # only a failed import needs it

    modules = {_dotted(path): path for path in sorted(paths)}
    close = difflib.get_close_matches(name, modules, n=1, cutoff=0.75)
    return modules[close[0]] if close else _elsewhere(name.rpartition(".")[2], paths)


def _elsewhere(name: str, paths: Collection[str]) -> str | None:
    """The file of the app that is the module `name` of some folder."""
    return next((path for path in sorted(paths) if f".{_dotted(path)}".endswith(f".{name}")), None)


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _is_package(name: str, paths: Collection[str]) -> bool:
    return any(path.startswith(f"{name.replace('.', '/')}/") for path in paths)
