"""The port of the store: what the host asks of it and the rows it gives back. No backend is named here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

GrantKey = tuple[str, str, str]
"""(subject, capability, resource)."""


@dataclass(frozen=True, slots=True)
class GrantRow:
    """The owner's stored answer for (subject, capability, resource); `level` is `off`, `ask` or `allow`."""

    subject: str
    capability: str
    resource: str
    level: str
    revision: str
    set_at_ms: int

    @property
    def key(self) -> GrantKey:
        """What the answer is about."""
        return (self.subject, self.capability, self.resource)


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    """One question to the owner; `state` is `pending`, `approved`, `denied`, `expired` or `withdrawn`."""

    id: str
    subject: str
    capability: str
    resource: str
    revision: str
    entry: str
    args_hash: str
    state: str
    asked_at_ms: int
    expires_at_ms: int


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One line of what happened; `hash` covers the row before it and every field of this one.

    `kind` is `call` (queued before the effect), `outcome` (after it), `owner` (the owner's words), `run`
    (start and end), `navigation` (a page on its way where its app may not be), `egress` (what the proxy refused) or
    `host`.
    """

    seq: int
    at_ms: int
    kind: str
    call: int
    app: str
    revision: str
    caller_kind: str
    run: str
    entry: str
    method: str
    origin: str
    session: str
    verdict: str
    reason: str
    bytes: int
    duration_us: int
    segment: int
    hash: str


class Store(Protocol):
    """Grants, approvals and the ledger of one host. Used from one event loop; whatever fails is `STORE_UNAVAILABLE`.

    `on_grants_changed` is called on that loop after the snapshot of `grants()` has changed, whoever changed it,
    and before `set_grant` or `revoke_grant` returns.
    """

    on_grants_changed: Callable[[], None] | None

    @property
    def healthy(self) -> bool:
        """Whether what is appended now will be written."""

    @property
    def failure(self) -> str | None:
        """Why not, for the owner; it may name a file, so it is not for callers."""

    @property
    def queued_rows(self) -> int:
        """How many appended rows are not written yet: who calls without end has to let the writer catch up."""

    def grants(self) -> Mapping[GrantKey, GrantRow]:
        """The present snapshot, from memory; it never changes once handed out."""

    async def set_grant(self, row: GrantRow) -> None:
        """Store the owner's answer; durable when this returns. The ledger's `owner` row is the caller's to append."""

    async def revoke_grant(self, subject: str, capability: str, resource: str) -> bool:
        """Forget the owner's answer, so that it is `ask` again; False when there was none."""

    async def ask(self, row: ApprovalRow) -> ApprovalRow:
        """Store a pending question, or return the live one about the same thing; durable when this returns.

        Live is pending and unexpired at `row.asked_at_ms`, with the same subject, capability, resource, revision
        and entry. An empty `row.id` is filled in.
        """

    async def approvals(self, state: str | None = None) -> list[ApprovalRow]:
        """The stored questions, oldest first; one past its `expires_at_ms` is `pending` until the next `ask`."""

    def append(
        self,
        at_ms: int,
        kind: str,
        call: int,
        app: str,
        revision: str,
        caller_kind: str,
        run: str,
        entry: str,
        method: str,
        origin: str,
        session: str,
        verdict: str,
        reason: str,
        bytes_: int,
        duration_us: int,
    ) -> None:
        """Queue one ledger row, in order, written within 100 ms; the hot path, so it waits for nothing.

        Raises `STORE_UNAVAILABLE` when the writer has failed, the queue is full or the store is closed. Text is bounded
        and control characters are spelled out when it is written; that it is nothing private is the caller's duty.
        """

    async def flush(self) -> None:
        """Return when everything appended so far is written (it then survives the death of this process)."""

    async def ledger(self, after: int = 0, limit: int = 100) -> list[LedgerRow]:
        """Rows with `seq` above `after`, oldest first; a jump in `seq` is what was pruned."""

    async def tail(self, count: int) -> list[LedgerRow]:
        """The newest `count` rows, oldest first."""

    async def verify(self) -> int:
        """Walk the hash chain; how many rows it covers, or an error whose `details.seq` is the first broken one."""

    async def prune(self, keep_segments: int) -> int:
        """Remove the rows of all but the newest `keep_segments` segments (at least one); how many segments went."""

    def close(self) -> None:
        """Write what is queued, within 2 s, and let go; closing twice is fine, and no event loop is needed."""
