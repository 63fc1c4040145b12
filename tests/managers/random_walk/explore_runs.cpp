// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"
#include "managers/random_walk/setups.hpp"
#include "run_cases.hpp"

#include "warpheap/managers/random_walk/random_walk.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <int WordBits>
using short_runs = rw_malloc<rw_malloc_config{.unit_bytes = 64, .word_bits = WordBits, .draws = 3}>;

/// With cases in which a run crosses from the first word to the second.
/// \param region_bytes of those cases
template <int WordBits>
subject runs(const char* name, std::size_t region_bytes) {
  setup<short_runs<WordBits>> how = small_runs<short_runs<WordBits>>();
  subject made = manager_subject(name, how);
  how.region_bytes = region_bytes;
  const int units = static_cast<int>(region_bytes / 64) - 2;
  how.holds = {units, units, units / 2, units};
  add_run_cases(how, 64, std::size_t{WordBits - 1}, made.cases);
  return made;
}

const registrar narrow{runs<32>("rw_malloc", 64 * 45)};
const registrar wide{runs<64>("rw_malloc_64", 64 * 72)};
const registrar across{manager_subject("rw_malloc_long", long_runs<short_runs<32>>())};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
