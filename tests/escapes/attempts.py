"""All attempts that leave a worker alive, in the order of the probes."""

from __future__ import annotations

from tests.escapes.powers import KERNEL, PROCESSES, RESOURCES
from tests.escapes.probes import Attempt
from tests.escapes.reaching import FILES, NETWORK, SURROUNDINGS

THE_HOST = (Attempt(28, "import-host", "importlib.import_module('host').__name__", "ModuleNotFoundError"),)
ATTEMPTS = (*FILES, *SURROUNDINGS, *NETWORK, *PROCESSES, *RESOURCES, *KERNEL, *THE_HOST)
