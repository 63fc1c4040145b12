// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/contracts/manager.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace detail {

template <manager M>
std::optional<M> try_to_lay_out(const region& memory, const simt::device_properties& machine,
                                const typename M::options& settings) {
  try {
    return M(memory, machine, settings);
  } catch (const region_too_small&) {
    return std::nullopt;
  }
}

/// The smallest region in which the layout succeeds. Managers do not touch the region while they
/// lay themselves out, so any size may be tried. nullopt if larger regions are refused for another
/// reason. \pre `memory` is too small
template <manager M>
std::optional<std::size_t> smallest_above(const region& memory,
                                          const simt::device_properties& machine,
                                          const typename M::options& settings) {
  std::size_t too_small = memory.bytes;
  std::size_t enough = memory.bytes + 1;
  try {
    while (!try_to_lay_out<M>({memory.base, enough}, machine, settings)) {
      if (enough > SIZE_MAX / 2) return std::nullopt;
      too_small = enough;
      enough *= 2;
    }
  } catch (const invalid_argument&) {
    return std::nullopt;
  }
  while (enough - too_small > 1) {
    const std::size_t middle = too_small + (enough - too_small) / 2;
    (try_to_lay_out<M>({memory.base, middle}, machine, settings) ? enough : too_small) = middle;
  }
  return enough;
}

/// Lays a manager out in `memory`. A manager that finds it too small knows only what it was about
/// to take; the message names the smallest size in which the layout succeeds.
///
/// \throws region_too_small with that size
template <manager M>
M lay_out(const region& memory, const simt::device_properties& machine,
          const typename M::options& settings) {
  if (const auto made = try_to_lay_out<M>(memory, machine, settings)) return *made;
  const auto enough = smallest_above<M>(memory, machine, settings);
  throw region_too_small("a heap of " + std::to_string(memory.bytes) + " bytes is too small for " +
                             std::string(M::about.name) +
                             (enough ? ", which needs at least " + std::to_string(*enough)
                                     : std::string(" with these options")),
                         enough.value_or(0));
}

}  // namespace detail
WARPHEAP_END_NAMESPACE
