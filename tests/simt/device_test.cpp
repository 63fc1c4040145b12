// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The host side of the CPU model: memory, and what it refuses.
#include "device_array.hpp"
#include "message_of.hpp"

#include "warpheap/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using ::testing::HasSubstr;

struct do_nothing {
  void operator()() const {}
};

TEST(device, memory_is_aligned_and_keeps_what_is_written) {
  const device_array<std::uint32_t> first(std::vector<std::uint32_t>{1, 2, 3});
  const device_array<std::uint32_t> second(std::vector<std::uint32_t>{4, 5, 6});
  EXPECT_EQ(first.read(), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(second.read(), (std::vector<std::uint32_t>{4, 5, 6}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.get()) % 4096, 0u);
  machine().fill(first.get(), 0xab, 8);
  EXPECT_EQ(first.read(), (std::vector<std::uint32_t>{0xabababab, 0xabababab, 3}));
}

TEST(device, refuses_more_memory_than_there_is) {
  const auto there = machine().properties().memory_bytes;
  const std::string message = message_of<out_of_memory>([&] { machine().allocate(there + 12345); });
  EXPECT_THAT(message, HasSubstr(std::to_string(there + 12345)));
  EXPECT_THAT(message, HasSubstr(std::to_string(there)));
  EXPECT_THROW(machine().allocate(0), out_of_memory);
  EXPECT_THROW(machine().allocate(SIZE_MAX), out_of_memory);
}

TEST(device, refuses_blocks_of_an_impossible_size) {
  for (const std::uint32_t threads : {0u, 1025u}) {
    const std::string message = message_of<invalid_argument>([&] {
      machine().launch({1, threads}, do_nothing{});
    });
    EXPECT_THAT(message, HasSubstr(std::to_string(threads)));
    EXPECT_THAT(message, HasSubstr("1024"));
  }
}

TEST(device, a_grid_without_blocks_runs_nothing) {
  EXPECT_NO_THROW(machine().launch({0, 32}, do_nothing{}));
}

TEST(device, the_other_model_is_named_in_the_refusal) {
  EXPECT_THAT(message_of<invalid_argument>([] { device::cuda(3); }), HasSubstr("CUDA device 3"));
}

TEST(device, properties_say_what_it_is) {
  const auto& properties = machine().properties();
  EXPECT_EQ(properties.backend, "cpu");
  EXPECT_GT(properties.multiprocessors, 1u);
  EXPECT_GT(properties.resident_threads, 0u);
  EXPECT_GT(properties.memory_bytes, 1u << 20);
}

TEST(device, needs_a_resident_block) {
  EXPECT_THROW(device::cpu(simt::cpu_options{.resident_blocks = 0}), invalid_argument);
}

TEST(device, copies_refer_to_the_same_machine) {
  const device other = machine();
  EXPECT_EQ(&other.properties(), &machine().properties());
  EXPECT_GE(other.start({1, 1}, do_nothing{}).ms(), 0.0);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
