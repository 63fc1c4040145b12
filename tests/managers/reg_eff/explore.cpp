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

const registrar added[]{
    registrar{manager_subject("reg_eff_a", small_counter<counter>())},
    explored("reg_eff_aw", ring_cases<wrapping_counter>()),
    explored("reg_eff_c", list_cases<small_list<memory_offsets::one, 2>>()),
    explored("reg_eff_cf", list_cases<small_list<memory_offsets::one, 1>>()),
    explored("reg_eff_cm", list_cases<small_list<memory_offsets::per_multiprocessor, 2>>(2, 2)),
    explored("reg_eff_cfm", list_cases<small_list<memory_offsets::per_multiprocessor, 1>>(2, 2)),
    explored("reg_eff_one_chunk", list_cases<one_chunk>(1, 0)),
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
