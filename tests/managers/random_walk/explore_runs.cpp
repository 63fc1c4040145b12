// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "manager_cases.hpp"
#include "managers/random_walk/setups.hpp"

#include "warpheap/managers/random_walk/random_walk.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <int WordBits>
using short_runs = rw_malloc<rw_malloc_config{.unit_bytes = 64, .word_bits = WordBits, .draws = 3}>;

const registrar narrow{manager_subject("rw_malloc", small_runs<short_runs<32>>())};
const registrar wide{manager_subject("rw_malloc_64", small_runs<short_runs<64>>())};
const registrar across{manager_subject("rw_malloc_long", long_runs<short_runs<32>>())};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
