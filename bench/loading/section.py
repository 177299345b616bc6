"""The section of references/performance.md that `./dev bench egress` writes, and `./dev bench all` keeps."""

from __future__ import annotations

HEADING = "## Through the proxy\n"


def with_section(page: str, section: str) -> str:
    """The page with the section at its end, in the place of an older one."""
    return page.partition(HEADING)[0].rstrip("\n") + "\n" + (f"\n{section.strip()}\n" if section else "")


def section_of(page: str) -> str:
    """The section as it stands in a page; "" when there is none."""
    _, heading, rest = page.partition(HEADING)
    return heading + rest
