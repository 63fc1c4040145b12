// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/reg_eff/setups.hpp"

#include "manager_cases.hpp"

#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using counter = reg_eff<reg_eff_config{.keeps = book_keeping::counter}>;
using wrapping_counter = reg_eff<reg_eff_config{.keeps = book_keeping::wrapping_counter}>;

registrar explored(const char* name, const std::vector<named_case>& cases) {
  return registrar{subject{name, subject_kind::manager, cases, "", ""}};
}

// Behind a counter of 128 bytes.
const setup<counter> counted = [] {
  setup<counter> how = small_counter<counter>();
  how.holds = {1280 / 16, 1280 / 32, 1280 / 32};
  return how;
}();

// Behind offsets, operations, proof, search, tree and starts there are 118 granules, or 110 if
// there is one offset more; a block and the header of the next chunk take a whole number of them.
constexpr int granules = 118;
constexpr int granules_of_two = granules - 128 / 16;

const registrar added[]{
    registrar{manager_subject("reg_eff_a", counted)},
    explored("reg_eff_aw", ring_cases<wrapping_counter>()),
    explored("reg_eff_c", list_cases<small_list<memory_offsets::one, 2>>({granules / 2})),
    explored("reg_eff_cf", list_cases<small_list<memory_offsets::one, 1>>({granules / 2})),
    explored("reg_eff_cm",
             list_cases<small_list<memory_offsets::per_multiprocessor, 2>>({granules_of_two / 2})),
    explored("reg_eff_cfm",
             list_cases<small_list<memory_offsets::per_multiprocessor, 1>>({granules_of_two / 2})),
    explored("reg_eff_one_chunk",
             list_cases<one_chunk>({granules / 2, granules / 3, granules / 6})),
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
