# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mutant for tests that build none."""

import generated
from faults import Fault


def mutant(*, kind: str = "lost", name: str = "g0001", header: str = "one.hpp") -> generated.Mutant:
    fault = Fault(kind, 0, 1, "", "x = 1;", "is not there")
    return generated.Mutant(name, header, fault, ["p", "q"])
