// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The only include that a user needs: heaps, of the default manager unless another header of
/// managers/ names one.

#include "warpheap/core/units.hpp"
#include "warpheap/default_manager.hpp"
