# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is used in ``with`` and closed at its end."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A base class of what has ``close``."""

    def close(self) -> None:
        """Give back what this object holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
