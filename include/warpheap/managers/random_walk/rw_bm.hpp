// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/random_walk/bitmap_pages.hpp"

WARPHEAP_BEGIN_NAMESPACE

inline constexpr random_walk::bitmap_config rw_bm_config{.search =
                                                             random_walk::search_kind::independent};

/// RW-BM: every lane for itself.
///
/// A class of its own, because nvcc 13.0 cannot name an alias with a class-type argument in a list
/// of types.
template <random_walk::bitmap_config Config = rw_bm_config>
class rw_bm : public random_walk::bitmap_pages<Config> {
  using random_walk::bitmap_pages<Config>::bitmap_pages;
};

WARPHEAP_END_NAMESPACE
