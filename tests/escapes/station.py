"""The host side of one setting: `python station.py SETTINGS` has a world and a worker, and tries what it is sent.

One JSON line in, one out. A station without a lock (`tier` is "unlocked") is the control: it runs the same source in a
child that is forked for each attempt, in namespaces of its own, where whatever it does ends with it.
"""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from host.sandbox import launcher
from host.sandbox.launcher import SandboxConfig, launch
from host.sandbox.lock import Limits
from host.sandbox.pool import WorkerPool
from host.sandbox.process import Worker
from tests.escapes import container
from tests.escapes.probes import USEFUL, USEFUL_RESULT
from tests.escapes.world import World
from tests.sandbox.crippled import KINDS, cripple
from tests.sandbox.probe_runtime import attempt
from tests.sandbox.support import Conversation, probe_config
from tests.support.processes import command_line, pids, read, stat_fields

ANSWER_S = 15.0
ENDS_S = 12.0
DIES_S = 5.0
UNLOCKED = "unlocked"
IGNORE_ALL = "[signal.signal(s, lambda *a: None) for s in range(1, 32) if s not in (9, 19)]\n"
LEAVE = "sys.modules['json'].left = result = 'behind'"
FIND = "vars(json).get('left')"
SET_CHILD_SUBREAPER = 36
MS_REC, MS_PRIVATE, CLONE_NEWNS = 0x4000, 0x40000, 0x20000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


class Locked:
    """Tries in workers of one tier, started by a careless host: with its leaks, and its terminal as their input."""

    def __init__(self, config: SandboxConfig, world: World) -> None:
        self._config, self._world = config, world
        self._leaked = 0
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # whoever loses its parent is still found
        self._be_careless()
        self._talk = self._fresh()

    def greet(self) -> dict[str, Any]:
        """What was started."""
        return {"layers": self._talk.worker.layers, "uid": os.geteuid(), "leaked": self._leaked}

    def attempt(self, source: str, expected: str | None) -> dict[str, Any]:
        """The outcome, the damage, and whether useful code passes afterwards in that very worker."""
        try:
            outcome = self._talk.ask(source, **self._world.given())
            useful = self._talk.ask(USEFUL)
        except (AssertionError, OSError) as error:
            outcome, useful = {"ended": str(error)}, {}
            self._talk.close()
            self._talk = self._fresh()
        damage = self._world.damage(expected)
        return {"outcome": outcome, "damage": damage, "useful": useful == {"value": USEFUL_RESULT}}

    def fatal(self, sources: list[str], cpu_s: int) -> dict[str, Any]:
        """How workers of their own end that run these at the same time, and after how long all have."""
        talks = [self._fresh(cpu_s=cpu_s) for _ in sources]
        try:
            for talk, source in zip(talks, sources, strict=True):
                assert talk.ask(USEFUL) == {"value": USEFUL_RESULT}
                talk.say(source, **self._world.given())
            began_s = time.monotonic()
            ends = [asyncio.run(talk.worker.wait(ENDS_S)) for talk in talks]
            return {"ends": ends, "took_s": time.monotonic() - began_s}
        finally:
            for talk in talks:
                talk.close()

    def neighbours(self, sources: list[str]) -> dict[str, Any]:
        """What a worker comes to for which the victim and the host are another worker; and what the two share."""
        other = self._fresh()
        try:
            other.ask(LEAVE)
            given = {**self._world.given(), "victim": other.worker.pid, "host": other.worker.pid}
            outcomes = [self._talk.ask(source, **given) for source in sources]
            seen = [talk.ask(FIND) for talk in (other, self._talk)]
            works = other.ask(USEFUL) == {"value": USEFUL_RESULT}
            return {"outcomes": outcomes, "seen": seen, "works": works}
        finally:
            other.close()

    def pool(self, runs: int) -> dict[str, Any]:
        """What runs one after the other find in workers of a pool, which each of them leaves something in."""
        return asyncio.run(self._pool(runs))

    async def _pool(self, runs: int) -> dict[str, Any]:
        pool, seen, taken = WorkerPool(self._config, keep=1), [], []
        try:
            for _ in range(runs):
                worker = await pool.take()
                taken.append(worker.pid)
                seen += [await asked(worker, source) for source in (FIND, LEAVE, FIND)]
                await worker.aclose()
        finally:
            await pool.close()
        return {"seen": seen, "pids": taken}

    def attack(self, kinds: list[str], wide: bool) -> dict[str, Any]:
        """See `door.attack`; `missing` where this Python has not the host's packages."""
        try:
            from tests.escapes.door import attack
        except ImportError as error:
            return {"missing": str(error)}
        return asyncio.run(attack(self._config, kinds, wide=wide))

    def doom(self) -> dict[str, Any]:
        """A worker that is busy and hears no signal; this process is killed next."""
        self._world.close()  # its victim would outlive us
        self._fresh(cpu_s=30).say(f"{IGNORE_ALL}while True: pass")
        return {"pids": [os.getpid(), *descendants(os.getpid())]}

    def given_up(self, delays_ms: list[float]) -> dict[str, Any]:
        """Launches that are cancelled after so long: who is left?"""
        before = descendants(os.getpid())
        asyncio.run(self._give_up(delays_ms))
        return {"left": left_beyond(before)}

    async def _give_up(self, delays_ms: list[float]) -> None:
        for delay_ms in delays_ms:
            task = asyncio.create_task(launch(self._config))
            await asyncio.sleep(delay_ms / 1000)
            if task.done():
                await task.result().aclose()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def killed_starting(self, delays_ms: list[float]) -> dict[str, Any]:
        """Hosts that are killed so long after they began to start a worker: who is left?"""
        before = descendants(os.getpid())
        for delay_ms in delays_ms:
            if (host := os.fork()) == 0:
                asyncio.run(launch(self._config))
                time.sleep(ENDS_S)
                os._exit(0)
            time.sleep(delay_ms / 1000)
            os.kill(host, signal.SIGKILL)
            os.waitpid(host, 0)
        return {"left": left_beyond(before)}

    def choose(self, program: str | None = None) -> dict[str, Any]:
        """What the host takes by itself; `program` is another bubblewrap."""
        return chosen(self._config, program)

    def close(self) -> dict[str, Any]:
        """End the worker; who is left then?"""
        self._talk.close()
        self._world.close()
        return {"left": left_beyond([])}

    def _fresh(self, **limits: Any) -> Conversation:
        config = replace(self._config, limits=Limits(**limits))
        talk = Conversation(asyncio.run(launch(config)))
        assert talk.worker.layers["tier"] == config.tiers[0]
        talk.control()
        return talk

    def _be_careless(self) -> None:
        real = subprocess.Popen

        def careless(*arguments: Any, pass_fds: tuple[int, ...] = (), **options: Any) -> subprocess.Popen[Any]:
            if pass_fds:  # a worker; not the victim
                self._leaked += 1
                pass_fds = (*pass_fds, *self._world.leaks)
                options["stdin"] = self._world.terminal
            return real(*arguments, pass_fds=pass_fds, **options)

        subprocess.Popen = careless  # type: ignore[assignment, misc]  # for this process


class Crippled:
    """A host on a kernel that lacks something: it only tells which tier it would take."""

    def __init__(self, config: SandboxConfig) -> None:
        self._config = config

    def greet(self) -> dict[str, Any]:
        """Who chooses."""
        return {"uid": os.geteuid()}

    def choose(self, program: str | None = None) -> dict[str, Any]:
        """See `Locked.choose`."""
        return chosen(self._config, program)


class Unlocked:
    """Tries in children that nothing holds back: the control of each attempt."""

    def __init__(self, world: World) -> None:
        self._world = world

    def greet(self) -> dict[str, Any]:
        """Who tries."""
        return {"uid": os.geteuid()}

    def attempt(self, source: str, expected: str | None) -> dict[str, Any]:
        """The outcome and the damage."""
        given = self._world.given()
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            os.dup2(self._world.terminal, 0)
            ctypes.CDLL(None).unshare(CLONE_NEWNS)  # what it mounts is gone with it
            theirs.sendall(json.dumps(attempt(source, theirs.fileno(), given)).encode())
            os._exit(0)
        theirs.close()
        with ours:
            ours.settimeout(ANSWER_S)
            try:
                said = b"".join(iter(lambda: ours.recv(65536), b""))
            finally:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        outcome = json.loads(said) if said else {"ended": signal.Signals(-ended).name if ended < 0 else str(ended)}
        return {"outcome": outcome, "damage": self._world.damage(expected), "useful": True}

    def close(self) -> dict[str, Any]:
        """The end."""
        self._world.close()
        return {}


async def asked(worker: Worker, source: str) -> str:
    """The answer of a worker that nothing else is asked of meanwhile."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(ANSWER_S):
        await loop.sock_sendall(worker.sock, json.dumps({"source": source, "given": {}}).encode() + b"\n")
        return str(json.loads(await loop.sock_recv(worker.sock, 65536)).get("value"))


def chosen(config: SandboxConfig, program: str | None) -> dict[str, Any]:
    """Which tier works, of all there are, and why no better one; a worker that hangs is given up soon."""
    before = descendants(os.getpid())
    launcher.READY_TIMEOUT_S = 2.0
    told = replace(config, tiers=launcher.TIERS, bwrap=None if program is None else Path(program))
    report = asdict(asyncio.run(launcher.choose(told)))
    return {**report, "left": left_beyond(before)}


def descendants(root: int) -> list[int]:
    """Living processes that this one has started, and those that they have."""
    parents = {pid: int(fields[1]) for pid in pids() if (fields := stat_fields(pid)) and fields[0] not in "ZX"}
    found, new = set[int](), {root}
    while new := {pid for pid, parent in parents.items() if parent in new} - found:
        found |= new
    return sorted(found)


def left_beyond(before: list[int]) -> list[str]:
    """Who is there that was not, some seconds later at the most: a killed one waits while its namespaces go."""
    deadline = time.monotonic() + DIES_S
    while (left := set(descendants(os.getpid())) - set(before)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return [
        f"{pid} {read(pid, 'wchan').decode()} {stat_fields(pid)[:2]} {command_line(pid)[:1]}" for pid in sorted(left)
    ]


def mask_places() -> None:
    """What an unlocked attempt writes to is memory of this mount namespace only; its network has a loopback."""
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: str, target: str, kind: str | None, flags: int = 0) -> None:
        done = libc.mount(source.encode(), target.encode(), kind and kind.encode(), flags, None)
        assert done == 0, f"{target}: {os.strerror(ctypes.get_errno())}"

    mount("none", "/", None, MS_REC | MS_PRIVATE)
    for place in ("/dev/shm", "/tmp", str(Path(os.__file__).parent / "pydoc_data")):
        mount("none", place, "tmpfs")
    with socket.socket() as any_socket:
        flags = struct.unpack_from("16xH", fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("16s16x", b"lo")))[0]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def main() -> None:
    """Serve until the input ends."""
    settings = json.loads(sys.argv[1])
    os.chdir("/")
    if settings["contained"]:
        container.enter()
    tier, folder = settings["tier"], Path(settings["folder"])
    if tier == UNLOCKED:
        mask_places()
        folder = Path("/tmp")
    if (lacks := KINDS[settings["crippled"] or "healthy"]) is not None:
        cripple(lacks)
    sys.path.extend(settings["packages"])
    config = probe_config(Path(settings["cache"]), tier)
    station: Locked | Unlocked | Crippled
    try:
        if settings["crippled"]:
            station = Crippled(config)
        else:
            station = Unlocked(World(folder)) if tier == UNLOCKED else Locked(config, World(folder))
    except BaseException:
        tell({"failed": traceback.format_exc()})
        raise
    tell({"answer": station.greet()})
    for line in sys.stdin:
        asked = json.loads(line)
        handler: Callable[..., Any] = getattr(station, asked.pop("do"))
        try:
            tell({"answer": handler(**asked)})
        except Exception:
            tell({"failed": traceback.format_exc()})


def tell(message: dict[str, Any]) -> None:
    """One line to the tests."""
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
