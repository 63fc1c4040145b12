// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

#include "warpheap/host/policies/best_fit.hpp"
#include "warpheap/host/policies/binary_buddy.hpp"
#include "warpheap/host/policies/double_buddy.hpp"
#include "warpheap/host/policies/fibonacci_buddy.hpp"
#include "warpheap/host/policies/first_fit.hpp"
#include "warpheap/host/policies/next_fit.hpp"
#include "warpheap/host/policies/segregated_fit.hpp"
#include "warpheap/host/policies/simple_segregated.hpp"
#include "warpheap/host/policies/slabs_over_tlsf.hpp"
#include "warpheap/host/policies/tlsf.hpp"
#include "warpheap/host/stores/bitmask_store.hpp"
#include "warpheap/host/stores/hal_store.hpp"
#include "warpheap/host/stores/hash_store.hpp"

namespace warpheap::host {

/// A policy under the name that the tools, the bindings and the results use.
template <class Policy>
struct named_policy {
  using type = Policy;
  std::string_view name;
  std::string_view about;
};

/// Calls `f(named_policy<...>)` for every policy: the single list of them. Tests, bindings and
/// benchmarks are made from it. A fit without a store in its name uses the hybrid array list, which
/// the paper recommends for the fits.
template <class Function>
constexpr void for_each_policy(Function&& f) {
  f(named_policy<tlsf>{"tlsf", "two-level segregated fit: constant time, good fit"});
  f(named_policy<segregated_fit>{"segregated_fit", "power-of-two classes, constant time"});
  f(named_policy<slabs_over_tlsf>{"slabs_over_tlsf", "slabs for small blocks, tlsf for the rest"});
  f(named_policy<simple_segregated>{"simple_segregated", "powers of two, no split, no merge"});
  f(named_policy<binary_buddy>{"binary_buddy", "sizes 2^k"});
  f(named_policy<double_buddy>{"double_buddy", "sizes 2^k and 3 * 2^k"});
  f(named_policy<fibonacci_buddy>{"fibonacci_buddy", "sizes 1, 2, 3, 5, 8, ..."});
  f(named_policy<fit_policy<first_fit, hal_store<>>>{"first_fit", "lowest block that fits"});
  f(named_policy<fit_policy<first_fit, bitmask_store>>{"first_fit_bitmask", "over a bitmask"});
  f(named_policy<fit_policy<first_fit, hash_store>>{"first_fit_hash", "over a hash table"});
  f(named_policy<fit_policy<best_fit, hal_store<>>>{"best_fit", "smallest block that fits"});
  f(named_policy<fit_policy<best_fit, bitmask_store>>{"best_fit_bitmask", "over a bitmask"});
  f(named_policy<fit_policy<best_fit, hash_store>>{"best_fit_hash", "over a hash table"});
  f(named_policy<fit_policy<next_fit, hal_store<>>>{"next_fit", "continues where it stopped"});
  f(named_policy<fit_policy<next_fit, bitmask_store>>{"next_fit_bitmask", "over a bitmask"});
  f(named_policy<fit_policy<next_fit, hash_store>>{"next_fit_hash", "over a hash table"});
}

/// The names of all policies, with spaces between them.
inline std::string policy_names() {
  std::string names;
  for_each_policy([&](auto policy) { (names += names.empty() ? "" : " ") += policy.name; });
  return names;
}

}  // namespace warpheap::host
