// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"
#include "warpheap/managers/reg_eff/reg_eff.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <reg_eff_config Config>
struct manager_traits<reg_eff<Config>> : default_traits<reg_eff<Config>> {
  // With its header as large as the smallest chunks: larger blocks are cut out of chunks of many
  // sizes, and what is left of each is merged, or not, in the order in which lanes come.
  static constexpr std::size_t refill_bytes = Config.has_list() ? 112 : 0;

  static std::vector<capacity> capacities(const simt::device_properties& on) {
    // A counter gets to the last byte before it stops or starts again.
    if (!Config.has_list()) {
      return {{48, layout_bytes().array(1, 128).then(1000 * 48), 1000, 16}};
    }
    // Chunks of a new heap are multiples of 128 bytes, and merge where they are too short. So
    // blocks of 4 KiB with their headers lie beside each other as soon as a tree is that large.
    const std::size_t bytes = on.multiprocessors * (std::size_t{64} << 10);
    const std::size_t granules = bytes / 16;
    const std::size_t offsets = Config.offsets == memory_offsets::one ? 1 : on.multiprocessors;
    const std::size_t heap_bytes = layout_bytes()
                                       .array(offsets, 128)
                                       .array(16, 128)  // operations
                                       .array(1, 8)     // proof
                                       .array(2, 128)   // search
                                       .trees(1, granules + 1)
                                       .array(granules / 64 + 1, 8)  // starts
                                       .then(bytes + 16);
    return {{112, heap_bytes, bytes / 128, 4096}, {4096 - 16, heap_bytes, bytes / 4096, 4096}};
  }
};

// Without pre-splitting (`presplit_bytes` = 0) requests may return null early: see reg_eff.hpp.
using subjects = configurations<
    type_list<reg_eff<reg_eff_config{.keeps = book_keeping::counter}>,
              reg_eff<reg_eff_config{.keeps = book_keeping::wrapping_counter}>,
              reg_eff<reg_eff_config{.offsets = memory_offsets::one, .header_words = 1}>>,
    type_list<
        reg_eff<reg_eff_config{.offsets = memory_offsets::one, .header_words = 2}>,
        reg_eff<reg_eff_config{.offsets = memory_offsets::per_multiprocessor, .header_words = 2}>,
        reg_eff<reg_eff_config{.offsets = memory_offsets::per_multiprocessor, .header_words = 1}>>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
