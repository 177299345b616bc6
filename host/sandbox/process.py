"""One running worker: its socket and its end. Knows nothing of how it was started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import subprocess
from typing import Any

REAP_TIMEOUT_S = 2.0
POLL_S = 0.02
SIGNALLED = 128  # bubblewrap, as a shell, ends with this and the number of the signal that ended its child


class Worker:
    """One locked process, for one script. `sock` is the host's end, non-blocking; `pending` was read after `ready`.

    `wrapped` says that the process which was started is bubblewrap, and the worker below it.
    """

    def __init__(self, process: subprocess.Popen[bytes], sock: socket.socket, *, wrapped: bool) -> None:
        self.sock = sock
        self.pending = b""
        self.layers: dict[str, Any] = {}
        self._process = process
        self._wrapped = wrapped
        self._inner: int | None = None if wrapped else process.pid
        self._inner_fd = -1

    @property
    def pid(self) -> int:
        """The process id of the worker itself; the kernel may give it away again once `wait` has returned."""
        return self._inner or self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        gone = self._inner_fd >= 0 and bool(select.select([self._inner_fd], [], [], 0)[0])  # bubblewrap may still be
        return gone or self._status() is not None

    def found(self, pid: int) -> None:
        """Its process id became known. A kernel without process descriptors is fine."""
        if self._inner == pid:
            return
        self._inner = pid
        with contextlib.suppress(OSError):
            self._inner_fd = os.pidfd_open(pid)

    def kill(self) -> None:
        """SIGKILL; nothing happens when it has already ended.

        The worker itself is killed, and bubblewrap ends with it. While it is not known yet, or cannot be, all that was
        started is: bubblewrap alone would leave a child that waits for it to go on setting up (observed with 0.8.0).
        """
        if self._status() is not None:
            return
        if self._wrapped and self._inner_fd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._inner_fd, signal.SIGKILL)
        else:
            self._kill_all()

    async def wait(self, timeout_s: float) -> str:
        """How it ended, in words: `exit 0`, `SIGKILL`, `SIGXCPU` (CPU limit).

        Raises TimeoutError.
        """
        async with asyncio.timeout(timeout_s):
            while (status := self._status()) is None:
                await self._end()
        return _in_words(status, wrapped=self._wrapped)

    async def aclose(self) -> None:
        """Kill, reap, close the socket; closing twice is fine."""
        self.kill()
        try:
            await self.wait(REAP_TIMEOUT_S)
        except TimeoutError:
            self._kill_all()
            raise
        finally:
            self.sock.close()
            if self._inner_fd >= 0:
                os.close(self._inner_fd)
                self._inner_fd = -1

    def _kill_all(self) -> None:
        """The group that it was started in. It is not reaped yet, so nobody else has the number."""
        if self._status() is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def _status(self) -> int | None:
        """Its exit status as Popen tells it, None while it lives."""
        return self._process.poll()

    async def _end(self) -> None:
        try:
            pidfd = os.pidfd_open(self._process.pid)
        except OSError:  # before Linux 5.3, or forbidden by a container
            await asyncio.sleep(POLL_S)
            return
        loop = asyncio.get_running_loop()
        ended = loop.create_future()
        loop.add_reader(pidfd, ended.cancel)
        try:
            await asyncio.wait([ended])
        finally:
            loop.remove_reader(pidfd)
            os.close(pidfd)


def _in_words(returncode: int, *, wrapped: bool) -> str:
    if wrapped and returncode > SIGNALLED:
        returncode = SIGNALLED - returncode
    if returncode >= 0:
        return f"exit {returncode}"
    try:
        return signal.Signals(-returncode).name
    except ValueError:  # a real-time signal
        return f"signal {-returncode}"
