# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry point of ``python -m warpheap``."""

from warpheap.cli import main

main()
