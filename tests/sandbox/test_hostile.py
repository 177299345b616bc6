"""What hostile code tries in a worker that is locked for real, each beside a control in the same worker."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.sandbox import seccomp
from host.sandbox.launcher import SandboxConfig
from tests.sandbox.probe_runtime import attempt
from tests.sandbox.support import Conversation, conversation

ATTEMPTS = (  # expression, errno. `outside`: a file of the host's; `victim`, `host`: processes of the host's
    # files
    pytest.param("os.open(outside, os.O_RDONLY)", "EPERM", id="open"),
    pytest.param("open('/etc/passwd').read()", "EPERM", id="open-etc-passwd"),
    pytest.param("open('/etc/../etc/shadow').read()", "EPERM", id="open-with-dots"),
    pytest.param("open(sys.executable, 'rb').read(4)", "EPERM", id="open-interpreter"),
    pytest.param("open('/dev/null').read()", "EPERM", id="open-dev-null"),
    pytest.param("open(outside + '.new', 'w')", "EPERM", id="create"),
    pytest.param("open('/dev/shm/capsdk-attempt', 'w')", "EPERM", id="create-in-shared-memory"),
    pytest.param("os.stat(outside)", "EPERM", id="stat"),
    pytest.param("os.lstat(outside)", "EPERM", id="lstat"),
    pytest.param("syscall(332, -100, outside.encode(), 0, 0xFFF, b' ' * 256)", "EPERM", id="statx"),
    pytest.param("syscall(21, outside.encode(), 0)", "EPERM", id="access"),
    pytest.param("syscall(85, outside.encode(), 0o600)", "EPERM", id="creat"),
    pytest.param("syscall(437, -100, outside.encode(), b' ' * 24, 24)", "ENOSYS", id="openat2"),
    pytest.param("syscall(304, -100, b' ' * 16, 0)", "EPERM", id="open-by-handle"),
    pytest.param("os.readlink('/proc/self/exe')", "EPERM", id="readlink"),
    pytest.param("os.listdir('/')", "EPERM", id="listdir"),
    pytest.param("os.scandir('/tmp')", "EPERM", id="scandir"),
    pytest.param("os.chdir('/tmp')", "EPERM", id="chdir"),
    pytest.param("os.chroot('/tmp')", "EPERM", id="chroot"),
    pytest.param("os.mkdir(outside + '.d')", "EPERM", id="mkdir"),
    pytest.param("os.unlink(outside)", "EPERM", id="unlink"),
    pytest.param("os.rename(outside, outside + '.moved')", "EPERM", id="rename"),
    pytest.param("os.symlink(outside, outside + '.link')", "EPERM", id="symlink"),
    pytest.param("os.chmod(outside, 0o777)", "EPERM", id="chmod"),
    pytest.param("os.truncate(outside, 0)", "EPERM", id="truncate"),
    pytest.param("os.mknod(outside + '.node')", "EPERM", id="mknod"),
    # /proc
    pytest.param("open('/proc/self/environ').read()", "EPERM", id="proc-self-environ"),
    pytest.param("os.open('/proc/self/mem', os.O_RDWR)", "EPERM", id="proc-self-mem"),
    pytest.param("os.listdir('/proc/self/fd')", "EPERM", id="proc-self-fd"),
    pytest.param("os.stat(f'/proc/{host}')", "EPERM", id="proc-host"),
    pytest.param("open('/proc/1/cmdline').read()", "EPERM", id="proc-1"),
    # sockets
    pytest.param("socket.socket(socket.AF_INET, socket.SOCK_STREAM)", "EPERM", id="tcp"),
    pytest.param("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "EPERM", id="udp"),
    pytest.param("socket.socket(socket.AF_INET6, socket.SOCK_STREAM)", "EPERM", id="tcp-ipv6"),
    pytest.param("socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)", "EPERM", id="unix"),
    pytest.param(
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', abstract)", "EPERM", id="unix-abstract"
    ),
    pytest.param(
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', abstract)", "EPERM", id="pair-dgram"
    ),
    pytest.param("socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)", "EPERM", id="pair-seqpacket"),
    pytest.param("socket.socketpair()[0].sendto(b'x', abstract)", "EPERM", id="send-to-an-address"),
    pytest.param("socket.socketpair()[0].connect(abstract)", "EPERM", id="connect-a-pair-anew"),
    pytest.param("socket.socketpair()[0].bind(abstract + 'b')", "EPERM", id="bind"),
    pytest.param("socket.socketpair()[0].listen()", "EPERM", id="listen"),
    pytest.param("socket.socketpair()[0].recvmsg(1, 64)", "EPERM", id="receive-descriptors"),
    pytest.param("socket.socket(16, socket.SOCK_RAW, 0)", "EPERM", id="netlink"),
    pytest.param("socket.socket(17, socket.SOCK_RAW, 0)", "EPERM", id="packet"),
    pytest.param("socket.socket(40, socket.SOCK_STREAM)", "EPERM", id="vsock"),
    # processes
    pytest.param("os.fork() or os._exit(9)", "EPERM", id="fork"),
    pytest.param("syscall(435, b' ' * 88, 88)", "ENOSYS", id="clone3"),
    pytest.param("os.execv(sys.executable, ['python'])", "EPERM", id="exec"),
    pytest.param("os.posix_spawn('/bin/sh', ['sh'], {})", "EPERM", id="posix-spawn"),
    pytest.param("subprocess.run(['/bin/sh', '-c', 'true'])", "EPERM", id="shell"),
    pytest.param("os.kill(host, 0)", "EPERM", id="signal-host"),
    pytest.param("os.kill(victim, signal.SIGKILL)", "EPERM", id="kill"),
    pytest.param("os.kill(-1, 0)", "EPERM", id="signal-all"),
    pytest.param("os.kill(os.getpid(), 0)", "EPERM", id="signal-self"),
    pytest.param("syscall(234, victim, victim, 9)", "EPERM", id="tgkill"),
    pytest.param("os.pidfd_open(host)", "EPERM", id="pidfd"),
    pytest.param("fcntl.fcntl(fd, fcntl.F_SETOWN, victim)", "EPERM", id="signal-by-descriptor-owner"),
    pytest.param("fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGKILL)", "EPERM", id="signal-by-descriptor-number"),
    pytest.param("fcntl.ioctl(fd, 0x8901, victim.to_bytes(4, 'little'))", "EPERM", id="signal-by-socket-owner"),
    pytest.param("syscall(101, 16, victim, 0, 0)", "EPERM", id="ptrace"),
    pytest.param("syscall(310, victim, b' ' * 16, 1, b' ' * 16, 1, 0)", "EPERM", id="process-vm-readv"),
    pytest.param("os.setsid()", "EPERM", id="setsid"),
    pytest.param("syscall(157, 1, 0, 0, 0, 0)", "EPERM", id="clear-death-signal"),
    pytest.param("syscall(157, 4, 1, 0, 0, 0)", "EPERM", id="dumpable-again"),
    pytest.param("os.setpriority(os.PRIO_PROCESS, 0, 5)", "EPERM", id="priority"),
    # privileges
    pytest.param("os.setuid(0)", "EPERM", id="setuid-root"),
    pytest.param("os.setresuid(0, 0, 0)", "EPERM", id="setresuid-root"),
    pytest.param("os.setgroups([0])", "EPERM", id="setgroups-root"),
    pytest.param("syscall(302, 0, resource.RLIMIT_AS, b'\\xff' * 16, 0)", "EPERM", id="raise-rlimit"),
    pytest.param("syscall(160, resource.RLIMIT_AS, b'\\xff' * 16)", "EPERM", id="raise-rlimit-the-old-way"),
    pytest.param("syscall(302, 0, resource.RLIMIT_CPU, b'\\1' + b'\\0' * 15, 0)", "EPERM", id="lower-rlimit"),
    pytest.param("resource.prlimit(host, resource.RLIMIT_CPU)", "EPERM", id="rlimit-of-host"),
    pytest.param("syscall(126, b' ' * 8, b' ' * 24)", "EPERM", id="capset"),
    pytest.param("syscall(272, 0x10000000)", "EPERM", id="unshare-user"),
    pytest.param("syscall(308, fd, 0)", "EPERM", id="setns"),
    pytest.param("syscall(165, b'none', b'/tmp', b'tmpfs', 0, 0)", "EPERM", id="mount"),
    pytest.param("syscall(317, 0, 0, 0)", "EPERM", id="seccomp"),
    # the kernel's surface
    pytest.param("os.memfd_create('x')", "EPERM", id="memfd"),
    pytest.param("syscall(425, 4, b' ' * 120)", "EPERM", id="io-uring"),
    pytest.param("syscall(321, 5, b' ' * 128, 48)", "EPERM", id="bpf"),
    pytest.param("syscall(298, b' ' * 128, 0, -1, -1, 0)", "EPERM", id="perf-event"),
    pytest.param("syscall(323, 1)", "EPERM", id="userfaultfd"),
    pytest.param("syscall(250, 0, -4, 1)", "EPERM", id="keyctl"),
    pytest.param("syscall(29, 0, 4096, 0o1600)", "EPERM", id="shared-memory"),
    pytest.param("syscall(202, b' ' * 8, 6, 0, 0, 0, 0)", "EPERM", id="futex-lock-pi"),
    pytest.param("fcntl.ioctl(fd, 0x5412, b'x')", "EPERM", id="tiocsti"),
)

# What the table's expressions do to an unlocked process without hurting anyone: they must work there, or prove nothing.
HARMLESS = (
    "os.open(outside, os.O_RDONLY)",
    "os.stat(outside)",
    "syscall(332, -100, outside.encode(), 0, 0xFFF, b' ' * 256)",
    "syscall(21, outside.encode(), 0)",
    "os.readlink('/proc/self/exe')",
    "os.listdir('/')",
    "open('/proc/self/environ').read()",
    "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
    "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', abstract)",
    "os.kill(host, 0)",
    "os.memfd_create('x')",
    "resource.prlimit(host, resource.RLIMIT_CPU)",
)


@pytest.fixture(scope="module")
def victim() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """The host's own abstract socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(f"\0capsdk-test-{os.getpid()}")
        sock.setblocking(False)
        yield sock


@pytest.mark.parametrize(("source", "refusal"), ATTEMPTS)
def test_a_locked_worker_is_refused_what_would_reach_outside(
    shared: Conversation,
    outside: Path,
    victim: subprocess.Popen[bytes],
    listener: socket.socket,
    source: str,
    refusal: str,
) -> None:
    given = {
        "outside": str(outside),
        "victim": victim.pid,
        "host": os.getpid(),
        "abstract": listener.getsockname().decode(),
    }
    shared.control()
    outcome = shared.ask(source, **given)
    shared.control()
    assert outcome.get("errno") == refusal, outcome
    assert outside.read_text() == "the owner's"
    assert [path.name for path in outside.parent.iterdir()] == [outside.name]
    assert victim.poll() is None
    with pytest.raises(BlockingIOError):
        listener.recv(8)


@pytest.mark.parametrize("source", HARMLESS)
def test_the_same_attempts_succeed_without_the_lock(outside: Path, listener: socket.socket, source: str) -> None:
    assert source in [row.values[0] for row in ATTEMPTS]
    given = {"outside": str(outside), "host": os.getpid(), "abstract": "\0" + listener.getsockname()[1:].decode()}
    assert "value" in attempt(source, -1, given)
    with contextlib.suppress(BlockingIOError):
        listener.recv(8)  # what the datagram attempt really sent


# uretprobe and uprobe: newer kernels let no filter see them, and end a caller that is no probe with SIGILL.
PAST_EVERY_FILTER = frozenset({335, 336})


def test_every_system_call_in_no_table_is_refused(shared: Conversation) -> None:
    listed = {call.number for call in (*seccomp.ALLOWED, *seccomp.GUARDED, *seccomp.UNKNOWN)}
    source = """
result = {}
for number in numbers:
    try:
        result[number] = syscall(number, 0, 0, 0, 0, 0, 0)
    except OSError as error:
        result[number] = error.errno
result = json.dumps([n for n, outcome in result.items() if outcome != errno.EPERM])
"""
    shared.control()
    outcome = shared.ask(source, numbers=[n for n in range(512) if n not in listed | PAST_EVERY_FILTER])
    shared.control()
    assert outcome == {"value": "[]"}


def test_no_thread_can_be_started(shared: Conversation) -> None:
    shared.control()
    assert shared.ask("start_thread()")["error"] == "RuntimeError"
    shared.control()


FOREIGN_CALLS = (  # expression
    pytest.param("machine_code(bytes.fromhex('b814000000cd80c3'))", id="int80-getpid"),
    pytest.param("syscall(0x40000000 + 39)", id="x32-getpid"),
)


@pytest.mark.parametrize("source", FOREIGN_CALLS)
def test_a_call_by_a_foreign_abi_kills_the_worker(config: SandboxConfig, source: str) -> None:
    with conversation(config) as talk:
        # The same machine code with a native call answers, so what follows is not a crash of the attempt itself.
        assert talk.ask("machine_code(bytes.fromhex('b8270000000f05c3')) == os.getpid()") == {"value": "True"}
        talk.say(source)
        assert talk.ending() == "SIGSYS"
