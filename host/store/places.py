"""The store's folder and files: made private, refused when they are somebody else's. Opens no database."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from host.store.faults import refused, unavailable

MOUNTINFO = Path("/proc/self/mountinfo")

# WAL needs memory shared by all processes that use the file (https://sqlite.org/wal.html), which these do not give
_NETWORK_TYPES = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "fuse.ceph", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
    "fuse.sshfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs", "smb3", "smbfs",
})  # fmt: skip


def prepare_folder(folder: Path) -> Path:
    """Make the folder (0700) and return its real path; raises `STORE_UNAVAILABLE` when it cannot hold the store."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve(strict=True)
        status = folder.stat()
        _own(folder, status, "folder")
        if status.st_mode & 0o077:
            folder.chmod(0o700)
        kind = network_filesystem(folder, MOUNTINFO.read_text("utf-8", "replace") if MOUNTINFO.exists() else "")
    except FileExistsError as error:
        raise refused(
            folder, "not_a_folder", "is a file where a folder is needed; move it away", error, called="folder"
        ) from error
    except OSError as error:
        raise unavailable(folder, error, called="folder") from error
    if kind is not None:
        raise refused(
            folder,
            "network_filesystem",
            f"is on a network disk ({kind}); choose a folder on a local disk",
            called="folder",
        )
    return folder


def prepare_file(path: Path) -> None:
    """Make the file (0600) or check the one that is there; SQLite gives its `-wal` and `-shm` the same mode."""
    try:
        # Only ever open a new file: closing a descriptor of one in use would drop SQLite's locks in this process
        # (https://sqlite.org/howtocorrupt.html section 2.2).
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        _check_file(path)
    except OSError as error:
        raise unavailable(path, error) from error


def _check_file(path: Path) -> None:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise refused(path, "not_a_file", "is not a plain file; move it away")
        _own(path, status, path.name)
        if status.st_mode & 0o077:
            path.chmod(0o600)
    except OSError as error:
        raise unavailable(path, error) from error


def _own(path: Path, status: os.stat_result, called: str) -> None:
    if status.st_uid != os.geteuid():
        raise refused(
            path, "not_ours", "belongs to another user; run as that user or choose another folder", called=called
        )


def network_filesystem(folder: Path, mountinfo: str) -> str | None:
    """The type of the network file system that holds the real path `folder`, or None (proc_pid_mountinfo(5))."""
    best, kind = -1, ""
    for line in mountinfo.splitlines():
        fields = line.split(" ")
        if len(fields) < 10 or "-" not in fields[6:]:
            continue
        mounted_at = fields[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        # the last of several mounts on one place is the one seen
        if len(mounted_at) >= best and folder.is_relative_to(mounted_at):
            best, kind = len(mounted_at), fields[fields.index("-", 6) + 1]
    return kind if kind in _NETWORK_TYPES else None
