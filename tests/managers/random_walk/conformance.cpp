// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"
#include "managers/random_walk/rw_malloc_bytes.hpp"
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

/// Pages with `bits` bits of metadata each, and `hints`.
inline std::vector<capacity> capacities_of_pages(std::size_t bits, std::size_t hints) {
  constexpr std::size_t pages = 1000;
  std::vector<capacity> all;
  for (const std::size_t bytes : {1024, 4096}) {
    const std::size_t heap_bytes = layout_bytes()
                                       .array(1, 64)  // search
                                       .array(hints, 4)
                                       .array(pages / 64 + 1, bits * 8)
                                       .then(pages * bytes, 256);
    all.push_back({bytes, heap_bytes, pages, bytes});
  }
  return all;
}

template <>
struct manager_traits<rw<>> : default_traits<rw<>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    return capacities_of_pages(32, 0);
  }
};
template <class M>
struct bitmap_traits : default_traits<M> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    return capacities_of_pages(1, 0);
  }
};
template <>
struct manager_traits<rw_bm<>> : bitmap_traits<rw_bm<>> {};
template <>
struct manager_traits<corw<>> : bitmap_traits<corw<>> {};
template <>
struct manager_traits<crw<>> : default_traits<crw<>> {
  static std::vector<capacity> capacities(const simt::device_properties& on) {
    // A hint for each resident thread, or for each page that the heap could have.
    return capacities_of_pages(1, on.resident_threads < 1000 ? on.resident_threads : 1000);
  }
};

template <rw_malloc_config Config>
struct manager_traits<rw_malloc<Config>> : default_traits<rw_malloc<Config>> {
  // Larger blocks are runs of units, and where the first ones happen to lie decides how many fit.
  static constexpr std::size_t refill_bytes = Config.unit_bytes;

  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    constexpr std::size_t units = 4096;
    const std::size_t heap_bytes = rw_malloc_bytes({}, units, Config.unit_bytes);
    return {{Config.unit_bytes, heap_bytes, units, Config.unit_bytes}};
  }
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
