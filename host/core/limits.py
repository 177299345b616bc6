"""Every limit of the host in one place, each with its unit in its name; settings may change them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of `design.md` 5. Those of a call are `cap.call`'s: another door may hold others."""

    sessions_per_client: int = 8
    sessions_per_host: int = 16
    command_timeout_s: float = 20.0
    open_timeout_s: float = 20.0
    launch_timeout_s: float = 15.0
    params_bytes: int = 64 * KIB
    params_depth: int = 100
    result_bytes: int = 1 * MIB
    line_bytes: int = 1 * MIB
    calls_in_flight: int = 1000
    events_kept: int = 500
    events_bytes: int = 1 * MIB
    event_bytes: int = 64 * KIB
    poll_events: int = 100
    poll_bytes: int = 128 * KIB
    poll_wait_s: float = 20.0
    pipe_held_s: float = 5.0
    pipe_held_window_s: float = 60.0
    dialog_answer_s: float = 5.0
    dialog_answer_chat_s: float = 60.0
    idle_expiry_s: float = 120.0
    close_timeout_s: float = 3.0
    deaf_after_s: float = 2.0
    url_chars: int = 2048
    run_wall_s: float = 300.0
    run_cpu_s: int = 10
    run_memory_mb: int = 512
    run_output_bytes: int = 1 * MIB
    run_calls_in_flight: int = 200
    run_calls_per_s: float = 0.0  # none
    run_log_lines: int = 10_000
    run_bytes_in_flight: int = 2 * MIB
    run_unread_bytes: int = 4 * MIB
    screenshot_timeout_s: float = 60.0
    screenshot_bytes: int = 4 * MIB
    screenshot_pixels: int = 24_000_000  # of the device, before it is made smaller: some 18,000 lines of a usual window
    workers_kept: int = 2  # by a host that lasts, about 25 MB each
    log_message_bytes: int = 8 * KIB
    asset_bytes: int = 1 * MIB

    def public(self) -> dict[str, float]:
        """Name and value of each limit, as `browser.sessions` and `capsdk doctor` show them."""
        return asdict(self)
