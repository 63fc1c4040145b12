// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layers, over the manager that needs them most, and small blocks beside large ones.
#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"
#include "warpheap/heap/layers/arena_blocks.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/heap/layers/with_large.hpp"
#include "warpheap/managers/halloc/halloc.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/managers/scatter_alloc/scatter_alloc.hpp"

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

class halloc_with_large : public with_large<halloc<>, scatter_alloc<>> {
  using base = with_large<halloc<>, scatter_alloc<>>;

 public:
  using base::base;
  static constexpr capabilities about = renamed(base::about, "with_large");
};
template <>
struct manager_traits<halloc_with_large> : default_traits<halloc_with_large> {
  // Those that fill the heap are the large ones: pages.
  static constexpr std::size_t refill_bytes = 4096;
};

using subjects =
    configurations<type_list<checked_rw_malloc, counted_rw_malloc, arena_blocks<rw_malloc<>>>,
                   type_list<halloc_with_large>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
