// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "conformance/objects_kernels.hpp"
#include "conformance/traits.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"

#include <bit>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Larger requests, and few slots per block.
class coarse_dynasoar : public dynasoar<dynasoar_config{.smallest_bytes = 512, .slots = 8}> {
 public:
  using manager = dynasoar<dynasoar_config{.smallest_bytes = 512, .slots = 8}>;
  using manager::manager;
  static constexpr capabilities about = renamed(manager::about, "dynasoar_coarse");
};

/// All that stands in front of the blocks, which have one of `types` types each.
inline layout_bytes in_front_of(std::size_t blocks, std::size_t types) {
  return layout_bytes()
      .array(1, 8)                // moves
      .array(1, 64)               // the handle
      .array(1 + 2 * types, 128)  // trees
      .array(blocks, 8)           // free slots
      .array(blocks, 4);          // types
}

template <dynasoar_config Config>
struct manager_traits<dynasoar<Config>> : default_traits<dynasoar<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    constexpr std::size_t blocks = 500;
    constexpr std::size_t block_bytes = Config.smallest_bytes * Config.slots;
    // Each type has slots twice as large as the one before, down to one.
    constexpr std::size_t types = std::bit_width(static_cast<unsigned>(Config.slots));
    const std::size_t heap_bytes = in_front_of(blocks, types).then(blocks * block_bytes);
    std::vector<capacity> all;
    for (std::size_t bytes = Config.smallest_bytes; bytes <= block_bytes; bytes *= 2) {
      all.push_back({bytes, heap_bytes, blocks * (block_bytes / bytes), block_bytes});
    }
    return all;
  }
};
template <>
struct manager_traits<coarse_dynasoar> : manager_traits<coarse_dynasoar::manager> {};

using two_types = dynasoar_objects<type_list<small_object, large_object>>;
template <>
struct manager_traits<two_types> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // A block has the size of 64 objects of the smaller type. Its word of notes is behind all.
    constexpr std::size_t blocks = 500;
    constexpr std::size_t block_bytes = 64 * sizeof(small_object);
    const std::size_t heap_bytes =
        in_front_of(blocks, 2).array(blocks, block_bytes).then(blocks * 8);
    return {{sizeof(small_object), heap_bytes, blocks * 64, block_bytes},
            {sizeof(large_object), heap_bytes, blocks * (block_bytes / sizeof(large_object)),
             block_bytes}};
  }
};

using subjects = configurations<type_list<dynasoar<>, two_types>, type_list<coarse_dynasoar>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
