// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The only include that a user needs.

#include "warpheap/core/units.hpp"
#include "warpheap/registry.hpp"
