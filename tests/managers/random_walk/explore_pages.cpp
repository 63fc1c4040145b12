// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"
#include "managers/random_walk/setups.hpp"

#include "warpheap/managers/random_walk/random_walk.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using random_walk::search_kind;

template <search_kind Search, int WordBits, bool Locks>
registrar pages(const char* name) {
  using manager = random_walk::bitmap_pages<random_walk::bitmap_config{
      .search = Search, .word_bits = WordBits, .lock_map = Locks, .low_water_ppm = short_walk_ppm}>;
  return registrar{manager_subject(name, small_pages<manager>())};
}

using short_rw = rw<rw_config{.low_water_ppm = short_walk_ppm}>;

using statistical_rw = rw<rw_config{.exhaustion = random_walk::exhaustion_rule::statistical,
                                    .low_water_ppm = statistical_ppm}>;

const registrar added[]{
    registrar{manager_subject("rw", small_pages<short_rw>())},
    registrar{manager_subject("rw_statistical", statistical_pages<statistical_rw>())},
    pages<search_kind::independent, 32, false>("rw_bm"),
    pages<search_kind::independent, 64, false>("rw_bm_64"),
    pages<search_kind::independent, 64, true>("rw_bm_64_locks"),
    pages<search_kind::collaborative, 32, false>("corw"),
    pages<search_kind::collaborative, 64, false>("corw_64"),
    pages<search_kind::collaborative, 32, true>("corw_locks"),
    pages<search_kind::clustered, 32, false>("crw"),
    pages<search_kind::clustered, 64, false>("crw_64"),
    pages<search_kind::clustered, 32, true>("crw_locks"),
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
