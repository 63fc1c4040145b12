// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Configurations that the suite covers besides the registry's.

#include "warpheap/core/type_list.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/registry.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

constexpr capabilities renamed(capabilities about, const char* name) {
  about.name = name;
  return about;
}

/// Long words, with and without the map of locks.
template <random_walk::bitmap_config Config>
class wide_pages : public random_walk::bitmap_pages<Config> {
  using base = random_walk::bitmap_pages<Config>;

 public:
  using base::base;
  static constexpr capabilities about = renamed(
      base::about, Config.search == random_walk::search_kind::independent     ? "rw_bm_64"
                   : Config.search == random_walk::search_kind::collaborative ? "corw_64_locks"
                                                                              : "crw_64_locks");
};

/// Longer words and smaller units.
class wide_rw_malloc : public rw_malloc<rw_malloc_config{.unit_bytes = 64, .word_bits = 64}> {
  using base = rw_malloc<rw_malloc_config{.unit_bytes = 64, .word_bits = 64}>;

 public:
  using base::base;
  static constexpr capabilities about = renamed(base::about, "rw_malloc_64");
};

/// The layers, over the manager that needs them most.
class checked_rw_malloc : public checked<rw_malloc<>> {
 public:
  using checked<rw_malloc<>>::checked;
  static constexpr capabilities about = renamed(checked<rw_malloc<>>::about, "checked");
};
class counted_rw_malloc : public counted<rw_malloc<>> {
 public:
  using counted<rw_malloc<>>::counted;
  static constexpr capabilities about = renamed(counted<rw_malloc<>>::about, "counted");
};

using variants = type_list<  //
    wide_pages<random_walk::bitmap_config{.search = random_walk::search_kind::independent,
                                          .word_bits = 64}>,
    wide_pages<random_walk::bitmap_config{
        .search = random_walk::search_kind::collaborative, .word_bits = 64, .lock_map = true}>,
    wide_pages<random_walk::bitmap_config{
        .search = random_walk::search_kind::clustered, .word_bits = 64, .lock_map = true}>,
    wide_rw_malloc, checked_rw_malloc, counted_rw_malloc>;

}  // namespace test
WARPHEAP_END_NAMESPACE
