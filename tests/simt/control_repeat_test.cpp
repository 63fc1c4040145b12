// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device_array.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Lane i repeats until its i-th step, but at most five times.
struct count_steps {
  std::uint32_t* out;

  WARPHEAP_DEVICE void operator()() const {
    const auto wanted = static_cast<std::uint32_t>(simt::thread_rank());
    std::uint32_t steps = 0;
    simt::repeat<5>([&] { return ++steps == wanted; });
    out[wanted] = steps;
  }
};

TEST(repeat, ends_with_the_step_that_succeeds_or_with_the_last) {
  const device_array<std::uint32_t> out(8);
  machine().launch({1, 8}, count_steps{out.get()});
  const auto steps = out.read();
  EXPECT_EQ(steps[0], 5u) << "no step ever succeeded";
  for (std::uint32_t i = 1; i < 8; ++i) EXPECT_EQ(steps[i], i < 5 ? i : 5) << i;
}

}  // namespace test
WARPHEAP_END_NAMESPACE
