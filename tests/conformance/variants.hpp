// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Configurations that the suite covers besides the registry's.

#include "warpheap/core/type_list.hpp"
#include "warpheap/registry.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A manager of another configuration, under a name of its own.
template <random_walk::bitmap_config Config>
class wide_locked : public random_walk::bitmap_pages<Config> {
  using base = random_walk::bitmap_pages<Config>;

 public:
  using base::base;
  static constexpr capabilities about = [] {
    capabilities changed = base::about;
    changed.name = Config.search == random_walk::search_kind::independent     ? "rw_bm_64"
                   : Config.search == random_walk::search_kind::collaborative ? "corw_64"
                                                                              : "crw_64";
    return changed;
  }();
};

class wide_rw_malloc : public rw_malloc<rw_malloc_config{.unit_bytes = 64, .word_bits = 64}> {
  using base = rw_malloc<rw_malloc_config{.unit_bytes = 64, .word_bits = 64}>;

 public:
  using base::base;
  static constexpr capabilities about = [] {
    capabilities changed = base::about;
    changed.name = "rw_malloc_64";
    return changed;
  }();
};

using variants = type_list<  //
    wide_locked<random_walk::bitmap_config{
        .search = random_walk::search_kind::independent, .word_bits = 64, .lock_map = true}>,
    wide_locked<random_walk::bitmap_config{
        .search = random_walk::search_kind::collaborative, .word_bits = 64, .lock_map = true}>,
    wide_locked<random_walk::bitmap_config{
        .search = random_walk::search_kind::clustered, .word_bits = 64, .lock_map = true}>,
    wide_rw_malloc>;

}  // namespace test
WARPHEAP_END_NAMESPACE
