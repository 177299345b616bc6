"""What a script imports: results, errors and the context it is handed; no browser and no host in here."""

from __future__ import annotations

from capsdk import errors
from capsdk.result import Result
from capsdk.shortfall import CaptureIncomplete, LoadFailed, Shortfall, SignedOut
from capsdk.signals import Aborted

__all__ = ["Aborted", "CaptureIncomplete", "LoadFailed", "Result", "Shortfall", "SignedOut", "__version__", "errors"]

__version__ = "0.1.0"
