"""Attempts to reach what is outside: files, the host's surroundings, the network. A table; it tries nothing.

Numbers of system calls: Linux arch/x86/entry/syscalls/syscall_64.tbl.
"""

from __future__ import annotations

from tests.escapes.probes import Attempt

NO_FAMILY = ("EAFNOSUPPORT", "ESOCKTNOSUPPORT", "EPROTONOSUPPORT")
NO_CALL = ("ENOSYS", "EOPNOTSUPP")
FIRST_FOUND = """
found = []
for each in range(4, 300):
    try:
        found.append({look})
    except OSError:
        pass
result = found[0]
"""
# What execve(2) laid on the stack: arguments and environment, as strings that clearing the environment leaves there.
# They lie between the first argument and AT_EXECFN (31), which the auxiliary vector names.
STARTED_WITH = """
word = lambda address: ctypes.c_ulong.from_address(address).value
end = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "__libc_stack_end").value
at = end + 8 * (word(end) + 2)
while word(at):
    at += 8
while not word(at):
    at += 8
while word(at) != 31:
    at += 16
laid = ctypes.string_at(word(end + 8), word(at + 8) - word(end + 8)).split(b"\\0")
result = [each for each in laid if each.startswith(secret_name.encode() + b"=")][0]
"""
GETENV = """
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
result = getenv(secret_name.encode()).decode()
"""
SENDS_DESCRIPTOR = "pair = socket.socketpair()\nsocket.send_fds(pair[0], [b'x'], [0])\nresult = socket.recv_fds(pair[1]"

FILES = (
    Attempt(1, "open", "open('/etc/passwd').read()"),
    Attempt(1, "os-open", "os.open('/etc/passwd', os.O_RDONLY)"),
    Attempt(1, "o-path", "os.open('/etc/passwd', os.O_PATH)"),
    Attempt(1, "openat2", "syscall(437, -100, b'/etc/passwd', bytes(24), 24)", "ENOSYS"),
    Attempt(1, "by-handle", "syscall(304, -100, bytes.fromhex(handle), 0)", lacks=("EINVAL", "ESTALE", *NO_CALL)),
    Attempt(1, "shadow-with-dots", "open('/etc/../etc/shadow').read()"),
    Attempt(1, "interpreter", "open(python, 'rb').read(4)"),
    Attempt(1, "dev-null", "open('/dev/null').read()"),
    Attempt(1, "kernel-settings", "open('/sys/kernel/mm/transparent_hugepage/enabled').read()", lacks=("ENOENT",)),
    Attempt(2, "read", "open(outside).read()"),
    Attempt(2, "list", "os.listdir(home)"),
    Attempt(2, "list-root", "os.listdir('/')"),
    Attempt(2, "scan", "next(os.scandir(home)).name"),
    Attempt(2, "stat", "os.stat(outside)"),
    Attempt(2, "lstat", "os.lstat(outside)"),
    Attempt(2, "statx", "syscall(332, -100, outside.encode(), 0, 0xFFF, bytes(256))"),
    Attempt(2, "old-stat", "syscall(4, outside.encode(), bytes(256))"),
    Attempt(2, "access", "syscall(21, outside.encode(), 0)"),
    Attempt(2, "readlink", "os.readlink(link)"),
    Attempt(2, "own-program", "os.readlink('/proc/self/exe')"),
    Attempt(2, "file-system", "os.statvfs(home)"),
    Attempt(2, "attributes", "os.listxattr(outside)"),
    Attempt(2, "chdir", "os.chdir(home)"),
    Attempt(2, "handle", "syscall(303, -100, b'/etc/passwd', struct.pack('I', 128) + bytes(132), bytes(8), 0)"),
    Attempt(2, "watch", "syscall(294, 0)", lacks=NO_CALL),
    Attempt(3, "dots", "open(app + '/../secret').read()"),
    Attempt(3, "dots-from-the-root", "open('../..' + outside).read()"),
    Attempt(3, "link-that-is-there", "open(link).read()"),
    Attempt(3, "link-of-its-own", "os.symlink(outside, app + '/made') or open(app + '/made').read()", leaves="files"),
    Attempt(3, "hard-link", "os.link(outside, app + '/made')", leaves="files"),
    Attempt(4, "app", "open(app + '/main.py', 'a').write('x')", leaves="files"),
    Attempt(4, "standard-library", "open(stdlib, 'w').write('x')", leaves="stdlib"),
    Attempt(4, "shared-memory", "open(shm, 'w').write('x')", leaves="shm"),
    Attempt(4, "outside", "open(outside, 'w').write('x')", leaves="files"),
    Attempt(4, "create", "open(outside + '.new', 'w').write('x')", leaves="files"),
    Attempt(4, "creat", "syscall(85, (outside + '.new').encode(), 0o600)", leaves="files"),
    Attempt(4, "no-name", "os.open(home, os.O_TMPFILE | os.O_RDWR)", lacks=("EOPNOTSUPP", "EISDIR")),
    Attempt(4, "mkdir", "os.mkdir(outside + '.d')", leaves="files"),
    Attempt(4, "unlink", "os.unlink(outside)", leaves="files"),
    Attempt(4, "rename", "os.rename(outside, outside + '.moved')", leaves="files"),
    Attempt(4, "chmod", "os.chmod(outside, 0o777)", leaves="files"),
    Attempt(4, "chown", "os.chown(outside, os.getuid(), os.getgid())"),
    Attempt(4, "truncate", "os.truncate(outside, 0)", leaves="files"),
    Attempt(4, "mknod", "os.mknod(outside + '.node')", leaves="files"),
    Attempt(4, "device", "os.mknod(outside + '.null', 0o20600, os.makedev(1, 3))", leaves="files"),
    Attempt(4, "fifo", "os.mkfifo(outside + '.fifo')", leaves="files"),
    Attempt(4, "times", "os.utime(outside, (1, 1))", leaves="files"),
    Attempt(4, "mask", "syscall(95, 0o022)"),
)

SURROUNDINGS = (
    Attempt(5, "os-environ", "os.environ[secret_name]", "KeyError"),
    Attempt(5, "libc", GETENV, "AttributeError"),
    Attempt(5, "stack", STARTED_WITH, "IndexError"),
    Attempt(5, "proc-self", "open('/proc/self/environ').read()"),
    Attempt(5, "proc-host", "open(f'/proc/{host}/environ').read()"),
    Attempt(6, "own-arguments", "[each for each in sys.orig_argv if each.endswith('.py')][0]", "IndexError"),
    Attempt(6, "proc-1", "open('/proc/1/cmdline').read()"),
    Attempt(6, "list", "os.listdir('/proc')"),
    Attempt(6, "stat-host", "os.stat(f'/proc/{host}')"),
    Attempt(6, "program-of-host", "os.readlink(f'/proc/{host}/exe')"),
    Attempt(6, "descriptors-of-host", "os.listdir(f'/proc/{host}/fd')"),
    Attempt(6, "root-of-host", "os.listdir(f'/proc/{host}/root/')"),
    Attempt(6, "memory-of-host", "os.open(f'/proc/{host}/mem', os.O_RDWR)"),
    Attempt(6, "own-memory", "os.open('/proc/self/mem', os.O_RDWR)"),
    Attempt(6, "own-descriptors", "os.listdir('/proc/self/fd')"),
    Attempt(6, "own-map", "open('/proc/self/maps').read()"),
    Attempt(6, "group-of-host", "os.getpgid(host)"),
    Attempt(6, "session-of-host", "os.getsid(host)"),
    Attempt(6, "priority-of-host", "os.getpriority(os.PRIO_PROCESS, host)"),
    Attempt(6, "scheduler-of-host", "os.sched_getscheduler(host)"),
    Attempt(6, "processors-of-host", "os.sched_getaffinity(host)"),
    Attempt(6, "clock-of-host", "time.clock_gettime((~host << 3) | 2)"),
    Attempt(6, "clock-of-host-is-there", "time.clock_getres((~host << 3) | 2)"),
    Attempt(6, "sleep-by-clock-of-host", "syscall(230, (~host << 3) | 2, 0, bytes(16), 0)"),
    Attempt(6, "limits-of-host", "resource.prlimit(host, resource.RLIMIT_CPU)"),
    Attempt(6, "who-is-the-peer", "socket.socket(fileno=os.dup(fd)).getsockopt(1, 17, 12)"),
    Attempt(
        6, "descriptor-of-the-peer", "socket.socket(fileno=os.dup(fd)).getsockopt(1, 77, 4)", lacks=("ENOPROTOOPT",)
    ),
    Attempt(7, "file", FIRST_FOUND.format(look="os.lseek(each, 0, 0) or os.read(each, 100).decode()"), "IndexError"),
    Attempt(7, "folder", FIRST_FOUND.format(look="os.listdir(each)"), "IndexError"),
    Attempt(7, "below-a-folder", FIRST_FOUND.format(look="os.open('etc/passwd', 0, dir_fd=each)"), "IndexError"),
    Attempt(7, "enter-a-folder", FIRST_FOUND.format(look="os.fchdir(each)"), "IndexError"),
    Attempt(7, "any-at-all", FIRST_FOUND.format(look="fcntl.fcntl(each, fcntl.F_GETFD) or 1"), "IndexError"),
)

NETWORK = (
    Attempt(8, "tcp", "socket.create_connection(('127.0.0.1', tcp), 2)", leaves="tcp"),
    Attempt(8, "tcp-by-asyncio", "asyncio.run(asyncio.open_connection('127.0.0.1', tcp))", leaves="tcp"),
    Attempt(8, "tcp-ipv6", "socket.socket(socket.AF_INET6).connect(('::1', tcp6))", leaves="tcp6", lacks=NO_FAMILY),
    Attempt(8, "udp", "socket.socket(2, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', udp))", leaves="udp"),
    Attempt(8, "listen", "s = socket.socket()\ns.bind(('0.0.0.0', 0))\ns.listen()\nresult = s.getsockname()"),
    Attempt(8, "raw", "socket.socket(2, socket.SOCK_RAW, 1)"),
    Attempt(8, "mptcp", "socket.socket(2, socket.SOCK_STREAM, 262)", lacks=(*NO_FAMILY, "ENOPROTOOPT")),
    Attempt(8, "names", "socket.getaddrinfo('localhost', 80)", "?"),  # errors of the resolver have numbers of their own
    Attempt(9, "path", "socket.socket(socket.AF_UNIX).connect(unix)", leaves="unix"),
    Attempt(9, "abstract", "socket.socket(socket.AF_UNIX).connect(abstract)", leaves="abstract"),
    Attempt(9, "datagram", "socket.socket(1, socket.SOCK_DGRAM).sendto(b'x', dgram)", leaves="dgram"),
    Attempt(9, "datagram-pair", "socket.socketpair(1, socket.SOCK_DGRAM)[0].sendto(b'x', dgram)", leaves="dgram"),
    Attempt(9, "packet-pair", "socket.socketpair(1, socket.SOCK_SEQPACKET)"),
    Attempt(9, "bind", "socket.socketpair()[0].bind(abstract + 'b')", lacks=("EINVAL",)),
    Attempt(9, "receive-descriptors", f"{SENDS_DESCRIPTOR}, 8, 1)[1]"),
    Attempt(10, "netlink", "socket.socket(16, socket.SOCK_RAW, 0)", lacks=NO_FAMILY),
    Attempt(10, "packet", "socket.socket(17, socket.SOCK_RAW, 0)", lacks=NO_FAMILY),
    Attempt(10, "vsock", "socket.socket(40, socket.SOCK_STREAM)", lacks=NO_FAMILY),
    Attempt(10, "cryptography", "socket.socket(38, socket.SOCK_SEQPACKET)", lacks=NO_FAMILY),
    Attempt(10, "can", "socket.socket(29, socket.SOCK_RAW, 1)", lacks=NO_FAMILY),
    Attempt(10, "xdp", "socket.socket(44, socket.SOCK_RAW)", lacks=NO_FAMILY),
)
