# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which commits' rows a report shows."""

from enum import StrEnum


class Commits(StrEnum):
    """Which rows are shown, and whether those of several commits may share a figure."""

    NEWEST = "newest"  # of each file, for each backend and device
    ALL = "all"  # in sections of their own
    JOINED = "joined"  # in one section, of each measurement its newest row
