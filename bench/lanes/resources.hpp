// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the kernels of a batch of calls take. They are those that all cases launch: only two, for
/// calls that do nothing, are compiled for this alone.

#include "bench/lanes/kernel.hpp"
#include "bench/lanes/requests.hpp"
#include "warpheap/heap/handle.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace lanes {

/// A handle whose calls do nothing: what is left of a kernel is not a manager's.
struct idle_handle {
  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const { return reinterpret_cast<void*>(bytes); }
  WARPHEAP_DEVICE void free(void* /*block*/) const {}
};

template <class Handle>
bench::call_resources resources_of(const device& on) {
  return {on.resources<bound<allocate, Handle>>(), on.resources<bound<release, Handle>>()};
}

}  // namespace lanes

/// These kernels only call the manager: the registers that it states, if it does, are enough.
template <class M>
requires requires { M::registers; }
inline constexpr int simt::enough_registers<lanes::bound<lanes::allocate, handle<M>>> =
    M::registers;
template <class M>
requires requires { M::registers; }
inline constexpr int simt::enough_registers<lanes::bound<lanes::release, handle<M>>> = M::registers;

WARPHEAP_END_NAMESPACE
