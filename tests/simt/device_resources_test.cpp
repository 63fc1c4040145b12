// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel takes: known of CUDA's alone.
#include "device_array.hpp"

#include "warpheap/core/error.hpp"

#include <gtest/gtest.h>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

struct turn_round_in_few;

}  // namespace test

template <>
inline constexpr int simt::enough_registers<test::turn_round_in_few> = 24;

namespace test {

struct do_little {
  std::uint64_t* out;
  WARPHEAP_DEVICE void operator()() const { out[simt::thread_rank()] = simt::thread_rank(); }
};

constexpr std::uint64_t kept_words = 100;

/// Keeps what registers cannot hold: they have no addresses.
struct keep_much {
  std::uint64_t* out;
  WARPHEAP_DEVICE void operator()() const {
    volatile std::uint64_t kept[kept_words];
    for (std::uint64_t i = 0; i < kept_words; ++i) kept[i] = simt::noise();
    out[simt::thread_rank()] = kept[simt::noise() % kept_words];
  }
};

/// Has two dozen words at hand at once, each in two registers.
struct turn_round {
  std::uint64_t* out;
  WARPHEAP_DEVICE void operator()() const {
    std::uint64_t words[24];
    for (int i = 0; i < 24; ++i) words[i] = out[i * simt::grid_size()];
    for (int i = 0; i < 24; ++i) out[i * simt::grid_size()] = words[23 - i];
  }
};
/// The same in fewer, as it says above.
struct turn_round_in_few : turn_round {};

TEST(resources, are_known_of_every_kernel_that_can_be_launched_or_of_none) {
  if (!device::tells_resources) {
    EXPECT_THROW(machine().resources<do_little>(), invalid_argument);
    return;
  }
  const kernel_resources little = machine().resources<do_little>();
  EXPECT_GE(little.registers, 1u);
  EXPECT_LT(little.registers, 64u);
  EXPECT_EQ(little.local_bytes, 0u);
  EXPECT_EQ(little.shared_bytes, 0u);
  EXPECT_EQ(little.block_threads, 1024u);
  const kernel_resources much = machine().resources<keep_much>();
  EXPECT_LE(much.registers, 64u);
  EXPECT_GE(much.local_bytes, kept_words * sizeof(std::uint64_t));
  EXPECT_EQ(much.block_threads, 1024u);
  EXPECT_GT(machine().resources<turn_round>().registers, 24u);
  const kernel_resources few = machine().resources<turn_round_in_few>();
  EXPECT_LE(few.registers, 24u);
  EXPECT_EQ(few.block_threads, 1024u);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
