// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The kernels of plain_kernels.hpp with each manager of shard WARPHEAP_PLAIN_SHARD of
/// WARPHEAP_PLAIN_SHARDS. It is only compiled: check_registers.py reads what ptxas says about it.
/// Two calls have needed at least as many registers as one, so that the others are compiled only
/// where WARPHEAP_ALL_PLAIN_KERNELS is 1.
#include "plain_kernels.hpp"
#include "warpheap/registry.hpp"

#include <tuple>

using namespace warpheap;

/// A manager's name as a part of its kernels': ptxas says no more about a kernel.
struct manager_name {
  char letters[32] = {};

  consteval explicit manager_name(const char* name) {
    for (char* letter = letters; *name != '\0'; ++name, ++letter) *letter = *name;
  }
};
template <manager_name Name, class M>
struct named {
  using manager = M;
};

constexpr bool all_forms = WARPHEAP_ALL_PLAIN_KERNELS;

/// Naming a kernel has it compiled.
template <class M>
auto kernels_of() {
  using subject = named<manager_name(M::about.name), M>;
  if constexpr (!block_manager<M>) {
    return std::tuple(&test::allocate_plainly<subject>);
  } else if constexpr (all_forms) {
    return std::tuple(&test::allocate_plainly<subject>, &test::allocate_constant<subject>,
                      &test::allocate_twice<subject>);
  } else {
    return std::tuple(&test::allocate_twice<subject>);
  }
}
template <class... Managers>
auto kernels_of(type_list<Managers...> /*registered*/) {
  return std::tuple(kernels_of<Managers>()...);
}
const auto compiled = kernels_of(shard_of<managers, WARPHEAP_PLAIN_SHARD, WARPHEAP_PLAIN_SHARDS>{});
