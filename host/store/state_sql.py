"""The SQL of state.db: grants and approvals. Inside the caller's transaction, on the caller's connection."""

from __future__ import annotations

import sqlite3
from dataclasses import astuple, fields, replace

from host.store.port import ApprovalRow, GrantKey, GrantRow

_GRANT = ", ".join(field.name for field in fields(GrantRow))
_APPROVAL = ", ".join(field.name for field in fields(ApprovalRow))

_SET_GRANT = f"""
    INSERT INTO grants ({_GRANT}) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (subject, capability, resource)
    DO UPDATE SET level = excluded.level, revision = excluded.revision, set_at_ms = excluded.set_at_ms
"""
_LIVE = f"""
    SELECT {_APPROVAL} FROM approvals
    WHERE state = 'pending' AND subject = ? AND capability = ? AND resource = ? AND revision = ? AND entry = ?
    ORDER BY asked_at_ms LIMIT 1
"""


def read_grants(connection: sqlite3.Connection) -> dict[GrantKey, GrantRow]:
    """All grants."""
    rows = (GrantRow(*row) for row in connection.execute(f"SELECT {_GRANT} FROM grants"))
    return {row.key: row for row in rows}


def set_grant(connection: sqlite3.Connection, row: GrantRow) -> None:
    """Insert the grant or replace the one about the same thing."""
    connection.execute(_SET_GRANT, astuple(row))


def revoke_grant(connection: sqlite3.Connection, key: GrantKey) -> bool:
    """Delete the grant; False when there was none."""
    deleted = connection.execute("DELETE FROM grants WHERE subject = ? AND capability = ? AND resource = ?", key)
    return deleted.rowcount > 0


def ask(connection: sqlite3.Connection, row: ApprovalRow) -> ApprovalRow:
    """Insert the question as pending unless a live one about the same thing is there; that one otherwise."""
    connection.execute(
        "UPDATE approvals SET state = 'expired' WHERE state = 'pending' AND expires_at_ms <= ?", (row.asked_at_ms,)
    )
    about = (row.subject, row.capability, row.resource, row.revision, row.entry)
    live = connection.execute(_LIVE, about).fetchone()
    if live is not None:
        return ApprovalRow(*live)
    pending = replace(row, state="pending")
    connection.execute(f"INSERT INTO approvals ({_APPROVAL}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(pending))
    return pending


def read_approvals(connection: sqlite3.Connection, state: str | None) -> list[ApprovalRow]:
    """The questions in `state` (all when None), oldest first."""
    rows = connection.execute(
        f"SELECT {_APPROVAL} FROM approvals WHERE ?1 IS NULL OR state = ?1 ORDER BY asked_at_ms, id", (state,)
    )
    return [ApprovalRow(*row) for row in rows]
