// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include "warpheap/managers/reg_eff/operations.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

// A proof says when it was made by what was done until then, and the next life of the memory counts
// that from 0 again.
TEST(reg_eff_operations, a_proof_of_the_memory_s_last_life_holds_no_longer) {
  using operations = reg_eff_parts::operations;
  operations::shard shards[2];
  operations::proof exhausted = 1;  // for a granule, when nothing had been done
  const operations running(shards, 2, &exhausted);
  machine().launch({1, 1}, [&] {
    running.format(0, 1);
    EXPECT_FALSE(running.is_out(1));
    exhausted = 1;
    EXPECT_TRUE(running.is_out(1)) << "such a proof holds where none was there before";
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
