# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""warpheap: dynamic memory for massively parallel processors.

The package holds the ``warpheap`` command. Importing it needs nothing but the standard library.
"""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as _version

try:
    __version__ = _version("warpheap")
except PackageNotFoundError:  # run from a checkout, not installed
    __version__ = "0.1.0"

__all__ = ["__version__"]
