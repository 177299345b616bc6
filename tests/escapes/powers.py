"""Attempts to have a power: over processes, resources, the kernel. A table; it tries nothing.

Numbers of system calls: Linux arch/x86/entry/syscalls/syscall_64.tbl.
"""

from __future__ import annotations

from tests.escapes.probes import Attempt

NO_CALL = ("ENOSYS", "EOPNOTSUPP")
TAKE_500 = """
kept = []
try:
    while len(kept) < 500:
        kept.append({take})
finally:
    for each in kept:
        {give}
result = len(kept)
"""
WITH_100 = """
kept = []
try:
    while len(kept) < 100:
        {one}
        kept.append(1)
finally:
    {end}
result = len(kept)
"""
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        ctypes.CDLL(None).prctl(15, marker.encode(), 0, 0, 0)
        os.closerange(0, 100)
        time.sleep(60)
    os._exit(0)
result = os.wait()[1]
"""
SAME_MEMORY = "struct.pack('QQ', id(None), 16)"  # an address that parent and child of a fork share
NEW_PROCESS = "pid = {make}\npid or os._exit(0)\nresult = os.waitpid(pid, 0)[1]"
IN_ITS_PLACE = "os.dup2(fd, 9)\ntry:\n    {run}\nfinally:\n    os.close(9)"
SAY_VALUE = """['sh', '-c', 'echo \\'{"value": "another program"}\\' >&9']"""
POINTERS = "struct.pack('QQQQ', *(ctypes.cast(ctypes.c_char_p(w), ctypes.c_void_p).value or 0 for w in words), 0)"
BOMB = """
kept = []
try:
    while len(kept) < 100:
        pid = os.fork()
        pid or time.sleep(30) or os._exit(0)
        kept.append(pid)
finally:
    for each in kept:
        os.kill(each, 9)
        os.waitpid(each, 0)
result = len(kept)
"""
THREADS = WITH_100.format(one="threading.Thread(target=event.wait, daemon=True).start()", end="event.set()")

PROCESSES = (
    Attempt(11, "fork", NEW_PROCESS.format(make="os.fork()")),
    Attempt(11, "clone", NEW_PROCESS.format(make="syscall(56, 17, 0, 0, 0, 0)")),
    Attempt(
        11,
        "clone3",
        NEW_PROCESS.format(make="syscall(435, struct.pack('11Q', 0, 0, 0, 0, 17, *[0] * 6), 88)"),
        "ENOSYS",
    ),
    Attempt(11, "execve", IN_ITS_PLACE.format(run=f"os.execv('/bin/sh', {SAY_VALUE})")),
    Attempt(
        11,
        "execveat",
        IN_ITS_PLACE.format(
            run=f"words = [w.encode() for w in {SAY_VALUE}]\n    syscall(322, -100, b'/bin/sh', {POINTERS}, 0, 0)"
        ),
    ),
    Attempt(11, "posix-spawn", "os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', 'true'], {}), 0)[1]"),
    Attempt(11, "shell", "subprocess.run(['/bin/sh', '-c', 'echo hello'], capture_output=True, check=True).stdout"),
    Attempt(11, "thread", "start_thread()", "RuntimeError"),
    Attempt(11, "thread-by-asyncio", "asyncio.run(asyncio.to_thread(sum, [1, 2]))", "RuntimeError"),
    Attempt(12, "forks", BOMB),
    Attempt(12, "threads", f"event = threading.Event()\n{THREADS}", "RuntimeError"),
    Attempt(13, "victim", "os.kill(victim, signal.SIGKILL)", leaves="victim"),
    Attempt(13, "stop-victim", "os.kill(victim, signal.SIGSTOP)", leaves="victim"),
    Attempt(13, "host", "os.kill(host, 0)"),
    Attempt(13, "parent", "os.kill(os.getppid() or host, 0)"),
    Attempt(13, "all", "os.kill(-1, 0)"),
    Attempt(13, "own-group", "os.killpg(0, 0)"),
    Attempt(13, "itself", "os.kill(os.getpid(), 0)"),
    Attempt(13, "tkill", "syscall(200, victim, 9)", leaves="victim"),
    Attempt(13, "tgkill", "syscall(234, victim, victim, 9)", leaves="victim"),
    Attempt(13, "queue", "syscall(129, victim, 9, struct.pack('iii', 9, 0, -1) + bytes(116))", leaves="victim"),
    Attempt(13, "pidfd", "signal.pidfd_send_signal(os.pidfd_open(victim), 9)", leaves="victim"),
    Attempt(13, "pidfd-given", "syscall(424, victim_fd, 9, 0, 0)", leaves="victim"),
    Attempt(13, "descriptor-owner", "fcntl.fcntl(fd, fcntl.F_SETOWN, victim)"),
    Attempt(13, "descriptor-signal", "fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGKILL)"),
    Attempt(13, "socket-owner", "fcntl.ioctl(fd, 0x8901, struct.pack('i', victim))"),
    Attempt(14, "ptrace", "syscall(101, 0x4206, victim, 0, 0)"),
    Attempt(14, "read", f"syscall(310, host, {SAME_MEMORY}, 1, {SAME_MEMORY}, 1, 0)"),
    Attempt(14, "write", f"syscall(311, host, {SAME_MEMORY}, 0, {SAME_MEMORY}, 0, 0)"),
    Attempt(14, "descriptor", "syscall(438, victim_fd, 0, 0)"),
    Attempt(14, "compare", "syscall(312, host, victim, 2, 0, 0)", lacks=NO_CALL),
    Attempt(14, "advise", "syscall(440, victim_fd, b' ' * 16, 0, 20, 0)", lacks=("EINVAL", *NO_CALL)),
    Attempt(14, "move-pages", "syscall(279, host, 0, b' ' * 8, 0, b' ' * 8, 0)", lacks=NO_CALL),
    Attempt(14, "limits", "resource.prlimit(victim, resource.RLIMIT_CPU, (1, 1))"),
    Attempt(14, "priority", "os.setpriority(os.PRIO_PROCESS, victim, 5)"),
    Attempt(14, "processors", "os.sched_setaffinity(victim, os.sched_getaffinity(0))"),
    Attempt(15, "daemon", DAEMON, leaves="daemon"),
    Attempt(15, "new-session", "os.fork() or os.setsid() or os._exit(0)\nresult = os.wait()[1]"),
)

MIB_640 = "kept = []\nwhile len(kept) < 10:\n    kept.append({block})\nresult = len(kept)"
IN_TMP = """
for n in range({count}):
    with open(f"{{tmp}}-{{n}}", "wb") as file:
        file.write(b"x" * {size})
result = n
"""

RESOURCES = (
    Attempt(18, "reserved", "len(mmap.mmap(-1, 10 << 30, flags=0x4022))", "ENOMEM"),
    Attempt(18, "mapped", MIB_640.format(block="mmap.mmap(-1, 64 << 20, flags=mmap.MAP_PRIVATE)"), "ENOMEM"),
    Attempt(18, "touched", MIB_640.format(block="b'x' * (64 << 20)"), "MemoryError"),
    Attempt(18, "shared", MIB_640.format(block="mmap.mmap(-1, 64 << 20, flags=mmap.MAP_SHARED)"), "ENOMEM"),
    Attempt(18, "pinned", "syscall(149, struct.pack('Q', 0) * 512, 4096)"),
    Attempt(19, "bytes", IN_TMP.format(count=4, size=16 << 20), leaves="tmp"),
    Attempt(19, "files", IN_TMP.format(count=2000, size=0), leaves="tmp"),
    Attempt(20, "copies", TAKE_500.format(take="os.dup(0)", give="os.close(each)"), "EMFILE"),
    Attempt(20, "pipes", TAKE_500.format(take="os.pipe()", give="os.close(each[0]) or os.close(each[1])"), "EMFILE"),
    Attempt(20, "pairs", TAKE_500.format(take="socket.socketpair()[0]", give="each.close()"), "EMFILE"),
    Attempt(20, "polls", TAKE_500.format(take="select.epoll()", give="each.close()"), "EMFILE"),
    Attempt(20, "huge-pipe", "fcntl.fcntl(os.pipe()[1], 1031, 1 << 20)"),
    Attempt(20, "huge-buffer", "socket.socketpair()[0].setsockopt(1, 33, 64 << 20)"),
)

KERNEL = (
    Attempt(21, "mount", "syscall(165, b'none', mnt.encode(), b'tmpfs', 0, 0)"),
    Attempt(21, "unmount", "syscall(166, b'/dev/shm', 2)"),
    Attempt(21, "new-file-system", "syscall(430, b'tmpfs', 0)", lacks=NO_CALL),
    Attempt(21, "copy-a-tree", "syscall(428, -100, b'/', 1)", lacks=NO_CALL),
    Attempt(21, "chroot", "os.chroot(home)"),
    Attempt(21, "unshare-user", "syscall(272, 0x10000000)", lacks=("ENOSPC",)),
    Attempt(21, "unshare-mounts", "syscall(272, 0x20000)"),
    Attempt(21, "unshare-files", "syscall(272, 0x400)"),
    Attempt(21, "clone-user", NEW_PROCESS.format(make="syscall(56, 0x10000000 | 17, 0, 0, 0, 0)"), lacks=("ENOSPC",)),
    Attempt(
        21,
        "clone3-user",
        NEW_PROCESS.format(make="syscall(435, struct.pack('11Q', 0x10000000, 0, 0, 0, 17, *[0] * 6), 88)"),
        "ENOSYS",
        lacks=("ENOSPC",),
    ),
    Attempt(21, "setns", "syscall(308, namespace_fd, 0)"),
    Attempt(21, "host-name", "socket.sethostname('taken')"),
    Attempt(22, "keyctl", "syscall(250, 0, -4, 1)", lacks=NO_CALL),
    Attempt(22, "add-key", "syscall(248, b'user', b'capsdk-attempt', b'x', 1, -2)", lacks=NO_CALL),
    Attempt(22, "io-uring", "syscall(425, 4, bytes(120))", lacks=("EPERM", *NO_CALL)),
    Attempt(22, "bpf", "syscall(321, 0, struct.pack('IIII', 2, 4, 4, 1) + bytes(56), 72)", lacks=NO_CALL),
    Attempt(22, "perf", "syscall(298, struct.pack('IIQ', 1, 112, 0) + bytes(96), 0, -1, -1, 0)", lacks=NO_CALL),
    Attempt(22, "userfaultfd", "syscall(323, 1)", lacks=NO_CALL),
    Attempt(22, "memfd", "os.memfd_create('x')"),
    Attempt(22, "secret-memory", "syscall(447, 0)", lacks=NO_CALL),
    Attempt(22, "shared-memory", "syscall(29, 0, 4096, 0o1600)", lacks=NO_CALL),
    Attempt(22, "messages", "syscall(68, 0, 0o1600)", lacks=NO_CALL),
    Attempt(22, "semaphores", "syscall(64, 0, 1, 0o1600)", lacks=NO_CALL),
    Attempt(22, "message-queue", "syscall(240, b'capsdk-attempt', 66, 0o600, 0)", lacks=NO_CALL),
    Attempt(22, "landlock", "syscall(444, 0, 0, 1)", lacks=NO_CALL),
    Attempt(22, "fanotify", "syscall(300, 0, 0)", lacks=NO_CALL),
    Attempt(22, "futex-with-priorities", "syscall(202, bytes(8), 6, 0, 0, 0, 0)", lacks=NO_CALL),
    Attempt(22, "kernel-log", "syscall(103, 10, 0, 0)"),
    Attempt(22, "kernel-clock", "syscall(159, bytes(256))"),
    Attempt(23, "push-input", "fcntl.ioctl(0, 0x5412, b'\\n')", leaves="terminal"),
    Attempt(23, "window-size", "fcntl.ioctl(0, 0x5414, bytes(8))"),
    Attempt(25, "memory", "syscall(302, 0, resource.RLIMIT_AS, b'\\xff' * 16, 0)"),
    Attempt(25, "memory-the-old-way", "syscall(160, resource.RLIMIT_AS, b'\\xff' * 16)"),
    Attempt(25, "descriptors", "syscall(302, 0, resource.RLIMIT_NOFILE, struct.pack('QQ', 4096, 4096), 0)"),
    Attempt(25, "cpu-time", "syscall(302, 0, resource.RLIMIT_CPU, struct.pack('QQ', 60, 60), 0)"),
    Attempt(25, "death-signal", "syscall(157, 1, 0, 0, 0, 0)"),
    Attempt(25, "dumpable", "syscall(157, 4, 1, 0, 0, 0)"),
    Attempt(25, "another-name", "syscall(157, 15, b'capsdk-host', 0, 0, 0)"),
    Attempt(25, "another-filter", "syscall(317, 2, 0, struct.pack('I', 0x7FFF0000))"),
    Attempt(25, "setuid", "os.setuid(0)"),
    Attempt(25, "setresuid", "os.setresuid(0, 0, 0)"),
    Attempt(25, "another-user", "os.setuid(12345)"),
    Attempt(25, "setgid", "os.setgid(0)"),
    Attempt(25, "setgroups", "os.setgroups([0])"),
    Attempt(25, "capset", "syscall(126, struct.pack('Ii', 0x20080522, 0), bytes(24))"),
    Attempt(25, "priority", "os.setpriority(os.PRIO_PROCESS, 0, -5)"),
    Attempt(25, "real-time", "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"),
    Attempt(25, "personality", "syscall(135, 0xFFFFFFFF)"),
)

# Probe 24: each ends the worker that makes it.
NATIVE_CALL = "machine_code(bytes.fromhex('b8270000000f05c3')) == os.getpid()"
FOREIGN_CALLS = {
    "int80-getpid": "machine_code(bytes.fromhex('b814000000cd80c3'))",
    "x32-getpid": "syscall(0x40000000 + 39)",
}
