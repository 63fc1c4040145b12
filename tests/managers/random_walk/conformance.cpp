// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"
#include "warpheap/managers/random_walk/random_walk.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

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

template <rw_malloc_config Config>
struct manager_traits<rw_malloc<Config>> : default_traits<rw_malloc<Config>> {
  // Larger blocks are runs of units, and where the first ones happen to lie decides how many fit.
  static constexpr std::size_t refill_bytes = Config.unit_bytes;
};
template <>
struct manager_traits<wide_rw_malloc> : default_traits<wide_rw_malloc> {
  static constexpr std::size_t refill_bytes = 64;
};

using subjects = configurations<
    type_list<
        rw<>, rw_bm<>, corw<>, crw<>, rw_malloc<>,
        wide_pages<random_walk::bitmap_config{
            .search = random_walk::search_kind::collaborative, .word_bits = 64, .lock_map = true}>>,
    type_list<
        wide_pages<random_walk::bitmap_config{.search = random_walk::search_kind::independent,
                                              .word_bits = 64}>,
        wide_pages<random_walk::bitmap_config{
            .search = random_walk::search_kind::clustered, .word_bits = 64, .lock_map = true}>,
        wide_rw_malloc>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
