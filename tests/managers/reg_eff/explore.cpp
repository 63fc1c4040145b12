// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/reg_eff/setups.hpp"

#include "end_of_memory_cases.hpp"
#include "manager_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using counter = reg_eff<reg_eff_config{.keeps = book_keeping::counter}>;
using wrapping_counter = reg_eff<reg_eff_config{.keeps = book_keeping::wrapping_counter}>;

/// With a case in which two neighbours are free, and a lane wants both.
template <class M>
registrar list(const char* name) {
  const setup<M> how = small_chunks<M>();
  subject made = manager_subject(name, how);
  made.cases.push_back({"run_or_singles", [how] { return run_or_singles(how, 16, 3); }});
  return registrar{made};
}

const registrar added[]{
    registrar{manager_subject("reg_eff_a", small_counter<counter>())},
    registrar{subject{"reg_eff_aw", subject_kind::manager, ring_cases<wrapping_counter>(), "", ""}},
    list<small_list<memory_offsets::one, 2>>("reg_eff_c"),
    list<small_list<memory_offsets::one, 1>>("reg_eff_cf"),
    list<small_list<memory_offsets::per_multiprocessor, 2>>("reg_eff_cm"),
    list<small_list<memory_offsets::per_multiprocessor, 1>>("reg_eff_cfm"),
    list<one_chunk>("reg_eff_one_chunk"),
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
