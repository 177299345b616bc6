"""Runs inside a worker in place of capsdk.runtime: evaluates what the test sends and tells the outcome."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import fcntl
import importlib
import importlib.util
import json
import mmap
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: int | bytes) -> int:
    """A raw system call; raises OSError."""
    outcome = int(
        _libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    )
    if outcome == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return outcome


def start_thread() -> None:
    """Raises RuntimeError where no thread can be had."""
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def machine_code(code: bytes) -> int:
    """Run x86-64 instructions that return a C int."""
    memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    return int(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))())


def attempt(source: str, fd: int, given: dict[str, Any]) -> dict[str, str]:
    """What an expression, or statements that set `result`, come to: `value`; or `errno` or `error`, and `message`."""
    modules = (
        asyncio,
        ctypes,
        errno,
        fcntl,
        importlib,
        json,
        mmap,
        os,
        resource,
        select,
        signal,
        socket,
        struct,
        subprocess,
        sys,
    )
    names: dict[str, Any] = {module.__name__: module for module in (*modules, threading, time, traceback)}
    names |= {"syscall": syscall, "start_thread": start_thread, "machine_code": machine_code, "fd": fd, **given}
    try:
        try:
            return {"value": str(eval(compile(source, "<attempt>", "eval"), names))}
        except SyntaxError:
            exec(compile(source, "<attempt>", "exec"), names)
            return {"value": str(names["result"])}
    except OSError as error:
        return {"errno": errno.errorcode.get(error.errno or 0, "?"), "message": str(error)}
    except BaseException as error:
        return {"error": type(error).__name__, "message": str(error)}


def serve(fd: int, layers: dict[str, Any]) -> None:
    """One JSON line in, one out, until the host closes."""
    received = b""
    while chunk := os.read(fd, 65536):
        received += chunk
        while b"\n" in received:
            line, _, received = received.partition(b"\n")
            asked = json.loads(line)
            os.write(fd, json.dumps(attempt(asked["source"], fd, asked["given"])).encode() + b"\n")
