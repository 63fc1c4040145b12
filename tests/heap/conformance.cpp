// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layers, over the manager that needs them most.
#include "conformance/traits.hpp"
#include "warpheap/heap/layers/arena_blocks.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

class checked_rw_malloc : public checked<rw_malloc<>> {
 public:
  using checked<rw_malloc<>>::checked;
  static constexpr capabilities about = renamed(checked<rw_malloc<>>::about, "checked");
};
class counted_rw_malloc : public counted<rw_malloc<>> {
 public:
  using counted<rw_malloc<>>::counted;
  static constexpr capabilities about = renamed(counted<rw_malloc<>>::about, "counted");
};

template <>
struct manager_traits<checked_rw_malloc> : default_traits<checked_rw_malloc> {
  // With what the layer adds, a unit.
  static constexpr std::size_t refill_bytes = 256 - 64;
};
template <>
struct manager_traits<counted_rw_malloc> : default_traits<counted_rw_malloc> {
  static constexpr std::size_t refill_bytes = 256 - 16;
};

using subjects = type_list<checked_rw_malloc, counted_rw_malloc, arena_blocks<rw_malloc<>>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
