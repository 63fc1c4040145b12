// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/random_walk/bitmap_pages.hpp"

WARPHEAP_BEGIN_NAMESPACE

inline constexpr random_walk::bitmap_config corw_config{
    .search = random_walk::search_kind::collaborative};

/// CoRW: the lanes that call together share what they find (`bitmap_pages::take_together`).
///
/// A class of its own, because nvcc 13.0 cannot name an alias with a class-type argument in a list
/// of types.
template <random_walk::bitmap_config Config = corw_config>
class corw : public random_walk::bitmap_pages<Config> {
  using random_walk::bitmap_pages<Config>::bitmap_pages;
};

WARPHEAP_END_NAMESPACE
