"""What the 30 probes are, what an attempt is, and the useful code beside each. Pure: tries nothing."""

from __future__ import annotations

from dataclasses import dataclass

PROBES = {  # number: what; the numbering is the list of owed probes
    1: "/etc/passwd: open, by handle, openat2",
    2: "the host's home: read, list, stat, readlink, enter",
    3: "`..` and a symbolic link out of the app's folder",
    4: "write the app, the standard library, /dev/shm, outside",
    5: "the host's environment: os.environ, libc, the stack, /proc",
    6: "/proc/1, the host's process and who is on the line",
    7: "a leaked descriptor of a file, of a folder",
    8: "TCP and UDP on loopback, listening, names",
    9: "Unix sockets: abstract, by path, datagram pair",
    10: "netlink, packet, vsock and other families",
    11: "fork, execve, threads",
    12: "a fork bomb, a bomb of threads",
    13: "kill a victim, the host, all, by pidfd",
    14: "ptrace, process_vm_readv and the like",
    15: "a daemon left behind",
    16: "the host is killed during a busy loop",
    17: "a busy loop, also with all signals caught",
    18: "10 GiB of memory, reserved or touched",
    19: "fill /tmp with bytes, with files",
    20: "a flood of descriptors",
    21: "mount, chroot, unshare, clone, clone3, setns",
    22: "keyctl, io_uring, bpf, perf, userfaultfd, memfd",
    23: "TIOCSTI on a real terminal",
    24: "int 0x80 and x32",
    25: "raise rlimits, clear the death signal, setuid",
    26: "flood, giant line, forged replies to the host",
    27: "two workers see each other; one is used again",
    28: "useful code passes; `import host` does not",
    29: "no mechanism: refused; bubblewrap broken: noopen",
    30: "root, an ordinary user, Docker, Ubuntu 24.04",
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One thing that is tried: an expression, or statements that set `result`.

    The very same source has to succeed in a process without a lock. It finds the names of `World.given` besides the
    modules of `probe_runtime`.

    `refused` is the errno or the exception it comes to under the lock. `leaves` names the damage that the host sees
    after the control (see `World.damage`). Where the control itself comes to one of `lacks`, this kernel has no such
    thing: nothing was proved then.
    """

    probe: int
    name: str
    source: str
    refused: str = "EPERM"
    leaves: str | None = None
    lacks: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """As the tests call it."""
        return f"{self.probe}-{self.name}"


# Code that has to pass in the very worker that an attempt ran in.
USEFUL = """
import asyncio, base64, csv, dataclasses, datetime, decimal, hashlib, html.parser, json
import random, re, urllib.parse, zoneinfo
async def both():
    return await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))
@dataclasses.dataclass
class Row:
    text: str
class Reader(html.parser.HTMLParser):
    def handle_data(self, data):
        found.append(data)
found = []
Reader().feed("<p>page</p>")
result = json.dumps([
    asyncio.run(both()),
    base64.b64encode(b"x").decode(),
    next(csv.reader(["a;b"], delimiter=";")),
    dataclasses.asdict(Row("row")),
    datetime.date(2024, 2, 29).isoformat(),
    str(decimal.Decimal("0.1") * 3),
    hashlib.sha256(b"").hexdigest()[:8],
    found,
    random.Random(1).randint(5, 5),
    re.findall("[0-9]+", "a1b22"),
    urllib.parse.urlsplit("https://a.example/b").path,
])
"""
USEFUL_RESULT = (
    '[[1, 2], "eA==", ["a", "b"], {"text": "row"}, "2024-02-29", "0.3", "e3b0c442", ["page"], 5, ["1", "22"], "/b"]'
)
