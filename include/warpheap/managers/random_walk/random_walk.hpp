// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The family of random walks: managers that look for free memory at random places. There is no
/// global state that all lanes meet in, so they scale as long as memory is left.
///
/// M. Pham, Y. Yuan, H. Li, C. Mou, Y. Tu, Z. Xu, J. Meng: "Dynamic Buffer Management in Massively
/// Parallel Systems: The Power of Randomness", ACM Transactions on Parallel Computing 12(1), 2025,
/// DOI 10.1145/3701623.
///
/// - `rw`: fixed pages, a flag each;
/// - `rw_bm`, `corw`, `crw`: fixed pages, a bit each (bitmap_pages.hpp);
/// - `rw_malloc`: runs of units, for blocks of any size.
///
/// Null: with the exact rule, which is the default, nothing suitable was free at a moment of the
/// call; or in a few searches of everything, others freed and took it each time. With the
/// statistical rule, few pages are free, with 99 % confidence: even a lane alone may be refused one
/// that is free.

#include "warpheap/managers/random_walk/corw.hpp"
#include "warpheap/managers/random_walk/crw.hpp"
#include "warpheap/managers/random_walk/rw.hpp"
#include "warpheap/managers/random_walk/rw_bm.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
