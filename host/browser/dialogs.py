"""The dialog that a page shows: what it blocks, and the answer it gets when nobody gives one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from capsdk.errors import PreconditionError
from host.core.grants import Kind

if TYPE_CHECKING:
    from host.browser.command import Command
    from host.browser.session import Session

DIALOG_GRACE_S = 0.25  # commands that a dialog does not block answer within it


@dataclass(slots=True)
class Dialog:
    """A dialog of the page that waits for an answer."""

    type: str
    message: str
    answer_timer: asyncio.TimerHandle | None = None

    def lets_pass(self, method: str) -> bool:
        """Is this command not stopped by the dialog? A navigation ends all but the question whether to leave."""
        return method == "Page.handleJavaScriptDialog" or (method == "Page.navigate" and self.type != "beforeunload")

    def facts(self) -> dict[str, Any]:
        """What the caller is told: `message` is page text, bounded."""
        return {"type": self.type, "message": self.message[:1000]}


class Dialogs:
    """The one dialog that a session's page may show at a time; `standing` is set while one is there to stay."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._dialog: Dialog | None = None
        self.standing = asyncio.Event()

    @property
    def open(self) -> bool:
        """Does the page show one?"""
        return self._dialog is not None

    def refusal(self, method: str) -> PreconditionError | None:
        """Why a command cannot be sent while the dialog stands."""
        dialog = self._dialog
        return None if dialog is None or dialog.lets_pass(method) else dialog_error(dialog, opened=False)

    def opening(self, params: dict[str, Any]) -> None:
        """The page shows a dialog: calls that it blocks end soon, and nobody's answer means no (*stay*)."""
        dialog = self._dialog = Dialog(str(params.get("type", "")), str(params.get("message", "")))
        session, loop = self._session, asyncio.get_running_loop()
        limits = session.limits
        patience_s = limits.dialog_answer_chat_s if session.owner.kind is Kind.CHAT else limits.dialog_answer_s
        dialog.answer_timer = loop.call_later(patience_s, self._dismiss)
        under_way = session.commands_where(lambda command: not dialog.lets_pass(command.method))
        loop.call_later(DIALOG_GRACE_S, self._stands, dialog, under_way)

    def _stands(self, dialog: Dialog, under_way: list[Command]) -> None:
        if self._dialog is dialog:  # else it was answered meanwhile, and so are they
            self.standing.set()
            self._session.fail_commands(dialog_error(dialog, opened=True), under_way)

    def _dismiss(self) -> None:
        """Nobody answered: cancel, or stay on the page."""
        session = self._session
        page = session.page
        watcher = page.app if page.app_watches else page.guard
        session.connection.start("Page.handleJavaScriptDialog", {"accept": False}, watcher)

    def closed(self) -> None:
        """The dialog was answered, by whomever."""
        if self._dialog is not None and self._dialog.answer_timer is not None:
            self._dialog.answer_timer.cancel()
        self._dialog = None
        self.standing.clear()


def dialog_error(dialog: Dialog, *, opened: bool) -> PreconditionError:
    """A dialog stands in the way; `opened` tells that the call's effect happened."""
    return PreconditionError(
        "DIALOG_OPEN",
        f"the page shows {dialog.type or 'a dialog'}; answer it with Page.handleJavaScriptDialog",
        **dialog.facts(),
        dialogOpened=opened,
    )
