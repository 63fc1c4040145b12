# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sub-commands of ``warpheap``, one a module; each has ``register(app)``."""
