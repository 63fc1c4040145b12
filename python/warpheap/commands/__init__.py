# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sub-commands of ``warpheap``, one per module; each has ``register(app)``."""
