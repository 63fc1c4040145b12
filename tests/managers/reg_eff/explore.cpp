// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "managers/reg_eff/setups.hpp"

#include "end_of_memory_cases.hpp"
#include "manager_cases.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

template <book_keeping Keeps>
registrar counter() {
  using manager = reg_eff<reg_eff_config{.keeps = Keeps}>;
  return registrar{manager_subject(manager::about.name, small_counter<manager>())};
}

/// With a case in which two neighbours are free, and a lane wants both.
template <class M>
registrar list(const char* name) {
  const setup<M> how = small_chunks<M>();
  subject made = manager_subject(name, how);
  made.cases.push_back({"run_or_singles", [how] { return run_or_singles(how, 16, 3); }});
  return registrar{made};
}

const registrar added[]{
    counter<book_keeping::counter>(),
    counter<book_keeping::wrapping_counter>(),
    list<small_list<memory_offsets::one, 2>>("reg_eff_c"),
    list<small_list<memory_offsets::one, 1>>("reg_eff_cf"),
    list<small_list<memory_offsets::per_multiprocessor, 2>>("reg_eff_cm"),
    list<small_list<memory_offsets::per_multiprocessor, 1>>("reg_eff_cfm"),
    list<one_chunk>("reg_eff_one_chunk"),
};

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
