"""Parent of one Chromium: it dies with the host, and nothing of it stays. A process of its own, stdlib only.

Run as `python -I -S -B keeper.py CONFIG`; descriptors 3 and 4 are Chromium's ends of the CDP pipe, 5 is the death
pipe: a byte in it says that the profile is ready; when its other end is closed, the host is gone or done, and so is
all that was started here.
"""

import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import sys
import time
from typing import Any

DEATH_FD = 5
PR_SET_PDEATHSIG = 1
REMOVE_S = 1.0
DYING_S = 0.3
DIED_S = 1.5  # a host that died leaves nothing after 2 s


def become(uid: int) -> None:
    """Drop to a bare numeric uid for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def start(config: dict[str, Any]) -> int:
    """Fork and exec Chromium in a process group of its own; the child's pid."""
    keeper = os.getpid()
    libc = ctypes.CDLL(None)
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setpgid(0, 0)
        os.closerange(DEATH_FD, 4096)
        if config["uid"] is not None:
            become(config["uid"])
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # after the uid: a change of uid clears it
        if os.getppid() != keeper:
            os._exit(71)
        for fd in (3, 4):
            os.set_inheritable(fd, True)
        os.chdir(config["profile"])
        os.execve(config["argv"][0], config["argv"], config["env"])
    except OSError as problem:
        os.write(2, f"cannot start {config['argv'][0]}: {problem.strerror}\n".encode())
    os._exit(127)


def group_alive(group: int) -> bool:
    """Is there still a process in the group?"""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def end_group(group: int, wait_s: float) -> None:
    """Kill the whole group and wait until none of it is left."""
    deadline = time.monotonic() + wait_s
    while group_alive(group) and time.monotonic() < deadline:
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            return
        reap()
        time.sleep(0.01)


def ask_to_end(pid: int, child: int, wait_s: float) -> None:
    """Give a Chromium with a window the time to write its cookies down.

    Observed with Chromium 156: with SIGINT and SIGHUP it does, with SIGTERM those of the last half minute are lost.
    """
    os.kill(pid, signal.SIGINT)
    poll = select.poll()
    poll.register(child, select.POLLIN)
    poll.poll(wait_s * 1000)


def reap() -> None:
    """Collect every ended child."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def clear_up(config: dict[str, Any], *, died: bool) -> None:
    """Take away what was made for this Chromium alone; of a host that died its temporary profile, too."""
    for path in config.get("files", ()):
        with contextlib.suppress(OSError):
            os.unlink(path)
    if died and config["remove"]:
        deadline = time.monotonic() + REMOVE_S
        shutil.rmtree(config["profile"], ignore_errors=True)
        while os.path.lexists(config["profile"]) and time.monotonic() < deadline:
            reap()  # a process of Chromium's outside of its group has just written something
            time.sleep(0.02)
            shutil.rmtree(config["profile"], ignore_errors=True)


def main() -> int:
    """Start, wait for either end, clear up; the exit status is Chromium's (128 + signal), or 0 when the host ended."""
    config = json.loads(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: orphans of Chromium come here
    first = os.read(DEATH_FD, 1)
    if first != b"+":  # the host makes the profile ready after this process is there to remove it
        clear_up(config, died=not first)
        return 0
    pid = start(config)
    for fd in (3, 4):
        os.close(fd)
    child = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(child, select.POLLIN)
    poll.register(DEATH_FD, select.POLLIN | select.POLLHUP)
    ready = {fd for fd, _ in poll.poll()}
    status = 0
    if child in ready:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if config["remove"] and DEATH_FD not in ready:
            # A host that dies closes Chromium's pipe first, and on a loaded machine the death pipe some time later.
            poll.unregister(child)
            ready |= {fd for fd, _ in poll.poll(DYING_S * 1000)}
    told = DEATH_FD in ready and os.read(DEATH_FD, 1)  # nothing: the host died without a word
    gentle_s = config.get("gentle_s", 0)
    if child not in ready and gentle_s:
        ask_to_end(pid, child, gentle_s if told else min(gentle_s, DIED_S))
    end_group(pid, 2.0)
    clear_up(config, died=DEATH_FD in ready and not told)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
