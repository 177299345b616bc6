"""The SQLite store's files: private, refused when they cannot be used, migrated with a copy kept."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capsdk.errors import UnavailableError
from host.store import database
from host.store.places import network_filesystem
from tests.store.support import StartProcess, grant, open_sqlite


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_the_folder_and_every_file_are_the_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "store"
    previous = os.umask(0)
    try:
        store = open_sqlite(folder)
        await store.set_grant(grant())
    finally:
        os.umask(previous)
    assert mode_of(folder) == 0o700
    names = {path.name: mode_of(path) for path in folder.iterdir()}
    assert set(names) >= {"state.db", "ledger.db", "state.db-wal"}
    assert set(names.values()) == {0o600}
    store.close()


def test_a_folder_and_file_left_open_to_others_are_closed(tmp_path: Path) -> None:
    open_sqlite(tmp_path).close()
    tmp_path.chmod(0o755)
    (tmp_path / "state.db").chmod(0o644)
    open_sqlite(tmp_path).close()
    assert (mode_of(tmp_path), mode_of(tmp_path / "state.db")) == (0o700, 0o600)


def test_the_files_sync_as_promised(tmp_path: Path) -> None:
    for kind, level in (("state", 2), ("ledger", 1)):  # FULL, NORMAL
        with closing(database.open_database(tmp_path / f"{kind}.db", kind)) as connection:
            assert connection.execute("PRAGMA synchronous").fetchone() == (level,)
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def _file_for_folder(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("not a folder")


def _garbage(name: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / name).write_bytes(b"no database at all, only bytes " * 200)

    return make


def _damaged(folder: Path) -> None:
    open_sqlite(folder).close()
    size = (folder / "state.db").stat().st_size
    with (folder / "state.db").open("r+b") as file:
        file.seek(4096)  # the header stays good; every page behind it is noise
        file.write(b"\xa5" * (size - 4096))


def _truncated(folder: Path) -> None:
    open_sqlite(folder).close()
    os.truncate(folder / "ledger.db", 5_000)


def _newer(name: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        open_sqlite(folder).close()
        with closing(sqlite3.connect(folder / name)) as connection:
            connection.execute("PRAGMA user_version = 99")

    return make


def _another_programs(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "state.db")) as connection:
        connection.execute("CREATE TABLE theirs (x)")


def _not_ours(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(folder, 12_345, 12_345)


BROKEN = (
    pytest.param(_file_for_folder, "not_a_folder", id="a-file-for-the-folder"),
    pytest.param(lambda folder: (folder / "state.db").mkdir(), "not_a_file", id="state-db-is-a-folder"),
    pytest.param(lambda folder: (folder / "ledger.db").mkdir(), "not_a_file", id="ledger-db-is-a-folder"),
    pytest.param(lambda folder: (folder / "state.db").symlink_to("elsewhere"), "not_a_file", id="a-symlink"),
    pytest.param(_garbage("state.db"), "corrupt", id="garbage-state"),
    pytest.param(_garbage("ledger.db"), "corrupt", id="garbage-ledger"),
    pytest.param(_damaged, "corrupt", id="damaged-pages"),
    pytest.param(_truncated, "corrupt", id="cut-short"),
    pytest.param(_newer("state.db"), "newer_schema", id="newer-state"),
    pytest.param(_newer("ledger.db"), "newer_schema", id="newer-ledger"),
    pytest.param(_another_programs, "foreign_file", id="another-programs-database"),
    pytest.param(_not_ours, "not_ours", id="another-users-folder"),
)


@pytest.mark.parametrize(("breaks", "reason"), BROKEN)
def test_a_store_that_cannot_be_used_says_why(tmp_path: Path, breaks: Callable[[Path], None], reason: str) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    breaks(folder)
    with pytest.raises(UnavailableError) as caught:
        open_sqlite(folder)
    assert (caught.value.code, caught.value.details["reason"]) == ("STORE_UNAVAILABLE", reason)
    assert caught.value.hint is not None
    assert str(folder) in caught.value.hint
    assert str(folder) not in caught.value.message


def test_a_newer_file_is_left_as_it_was(tmp_path: Path) -> None:
    _newer("state.db")(tmp_path)
    before = (tmp_path / "state.db").read_bytes()
    with pytest.raises(UnavailableError):
        open_sqlite(tmp_path)
    assert (tmp_path / "state.db").read_bytes() == before


MOUNTS = "\n".join(
    (
        "22 1 254:0 / / rw - ext4 /dev/vda rw",
        "40 22 0:40 / /home/me/shared\\040things rw shared:7 - nfs4 server:/x rw",
        "41 22 0:41 / /mnt/local rw - nfs server:/y rw",
        "42 22 0:42 / /mnt/local rw master:1 - xfs /dev/vdb rw",
        "broken line",
    )
)
PLACES = (
    pytest.param("/var/lib/capsdk", None, id="local"),
    pytest.param("/home/me/shared things/store", "nfs4", id="network-with-a-space"),
    pytest.param("/home/me/shared things else", None, id="same-beginning"),
    pytest.param("/mnt/local/store", None, id="mounted-over"),
)


@pytest.mark.parametrize(("folder", "kind"), PLACES)
def test_a_network_file_system_is_known_by_its_mount(folder: str, kind: str | None) -> None:
    assert network_filesystem(Path(folder), MOUNTS) == kind


def test_a_folder_on_a_network_file_system_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text("22 1 0:1 / / rw - nfs server:/ rw")
    monkeypatch.setattr("host.store.places.MOUNTINFO", table)
    with pytest.raises(UnavailableError) as caught:
        open_sqlite(tmp_path / "store")
    assert caught.value.details["reason"] == "network_filesystem"


FIRST = "CREATE TABLE a (x TEXT); -- a remark; with a semicolon\nINSERT INTO a VALUES ('one; two');"
SECOND = "ALTER TABLE a ADD COLUMN y TEXT;\nUPDATE a SET y = 'new';"


class Overtaken(sqlite3.Connection):
    """Another process makes the tables right after this one has read that there is no version yet."""

    path = Path()

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        if "sqlite_schema" in sql:
            with closing(database.connect(self.path)) as other:
                database.migrate(other, self.path, [FIRST])
        return super().execute(sql, *given)


def test_a_file_that_another_process_is_just_making_is_ours(tmp_path: Path) -> None:
    Overtaken.path = tmp_path / "x.db"
    with closing(sqlite3.connect(Overtaken.path, factory=Overtaken, isolation_level=None)) as connection:
        assert database.check_version(connection, Overtaken.path, 1) == 1


def test_an_upgrade_keeps_a_copy_of_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(database.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        database.migrate(connection, path, [FIRST])
        database.migrate(connection, path, [FIRST, SECOND])
        assert connection.execute("SELECT x, y FROM a").fetchall() == [("one; two", "new")]
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
    copy = tmp_path / "x.db.v1.bak"
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("SELECT * FROM a").fetchall() == [("one; two",)]
    assert mode_of(copy) == 0o600


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(database.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        database.migrate(connection, path, [FIRST])
        with pytest.raises(sqlite3.OperationalError):
            database.migrate(connection, path, [FIRST, SECOND + "\nUPDATE nothing SET x = 1;"])
        assert connection.execute("SELECT * FROM a").fetchall() == [("one; two",)]
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


def test_five_processes_that_open_a_new_store_at_once_all_succeed(tmp_path: Path, start_process: StartProcess) -> None:
    started = [start_process("append(store, 1)", tmp_path / "store") for _ in range(5)]
    assert [process.wait(15) for process in started] == [0] * 5


async def test_a_full_disk_stops_the_host_and_loses_no_written_row(tmp_path: Path, start_process: StartProcess) -> None:
    folder = tmp_path / "store"
    body = """
        import resource
        append(store, *range(1, 201))
        await store.flush()
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))  # writes beyond fail, as on a full disk
        call = 200
        while True:
            call += 1
            try:
                append(store, call)
            except Exception as error:
                print(error.code, error.details["reason"], store.healthy, bool(store.failure), "/" in str(error))
                break
            if call % 500 == 0:
                await asyncio.sleep(0.03)
        try:
            await store.set_grant(grant())
        except Exception as error:
            print(error.code)
    """
    process = start_process(body, folder)
    output, _ = process.communicate(timeout=15)
    first, second = output.splitlines()
    assert first in {f"STORE_UNAVAILABLE {reason} False True False" for reason in ("io_error", "disk_full")}
    assert second == "STORE_UNAVAILABLE"
    store = open_sqlite(folder)
    checked = await store.verify()
    assert checked >= 200
    assert [row.call for row in await store.ledger(limit=checked)] == list(range(1, checked + 1))
    store.close()
