// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"
#include "managers/random_walk/rw_malloc_bytes.hpp"
#include "warpheap/managers/random_walk/random_walk.hpp"

#include <algorithm>

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
 public:
  using manager = rw_malloc<rw_malloc_config{.unit_bytes = 64, .word_bits = 64}>;
  using manager::manager;
  static constexpr capabilities about = renamed(manager::about, "rw_malloc_64");
};

inline constexpr std::size_t page_count = 1000;

inline std::vector<capacity> capacities_of_pages(const layout_bytes& in_front) {
  std::vector<capacity> all;
  for (const std::size_t bytes : {1024, 4096}) {
    all.push_back({bytes, in_front.then(page_count * bytes, 256), page_count, bytes});
  }
  return all;
}

template <>
struct manager_traits<rw<>> : default_traits<rw<>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    return capacities_of_pages(layout_bytes()
                                   .array(1, 64)            // search
                                   .array(page_count, 4));  // flags
  }
};
template <random_walk::bitmap_config Config>
struct bitmap_traits : default_traits<random_walk::bitmap_pages<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& on) {
    // A hint for each resident thread, or for each page that the heap could have.
    const std::size_t hints = Config.search == random_walk::search_kind::clustered
                                  ? std::min<std::size_t>(on.resident_threads, page_count)
                                  : 0;
    constexpr std::size_t word_bits = Config.word_bits;
    constexpr std::size_t words = ceil_div(page_count, word_bits);
    constexpr std::size_t locks = Config.lock_map ? ceil_div(words, word_bits) : 0;
    return capacities_of_pages(layout_bytes()
                                   .array(1, 64)  // search
                                   .array(hints, 4)
                                   .array(words, word_bits / 8)
                                   .array(locks, word_bits / 8));
  }
};
template <random_walk::bitmap_config Config>
struct manager_traits<rw_bm<Config>> : bitmap_traits<Config> {};
template <random_walk::bitmap_config Config>
struct manager_traits<corw<Config>> : bitmap_traits<Config> {};
template <random_walk::bitmap_config Config>
struct manager_traits<crw<Config>> : bitmap_traits<Config> {};
template <random_walk::bitmap_config Config>
struct manager_traits<wide_pages<Config>> : bitmap_traits<Config> {};

template <rw_malloc_config Config>
struct manager_traits<rw_malloc<Config>> : default_traits<rw_malloc<Config>> {
  // Larger blocks are runs of units, and where the first ones happen to lie decides how many fit.
  static constexpr std::size_t refill_bytes = Config.unit_bytes;

  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    constexpr std::size_t units = 4096;
    constexpr std::size_t word = Config.word_bits;
    const std::size_t heap_bytes = rw_malloc_bytes({}, units, Config);
    // The bytes in front are rounded up to lines of 128 bytes, which may be two units.
    constexpr std::size_t lost = std::max<std::size_t>(Config.unit_bytes, 128);
    // The first run of a word of units that a lane sees starts where a word does.
    return {{Config.unit_bytes, heap_bytes, units, lost},
            {word * Config.unit_bytes, heap_bytes, units / word, lost}};
  }
};
template <>
struct manager_traits<wide_rw_malloc> : manager_traits<wide_rw_malloc::manager> {};

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
