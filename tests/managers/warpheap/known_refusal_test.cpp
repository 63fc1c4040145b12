// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a lane finds out by a search in vain, all lanes know from then on, whatever the heap's
// memory held before.
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"

#include <gtest/gtest.h>
#include <cstddef>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

TEST(warpheap_known_refusal, one_request_proves_that_there_is_no_run) {
  const rubbish memory(80_KiB);
  const small subject(memory.all(), machine().properties(), {});
  subject.format(0, 1);
  constexpr std::size_t two_chunks = 512;
  machine().launch({1, 1}, [&] {
    while (subject.malloc(two_chunks) != nullptr) {
    }
    EXPECT_TRUE(subject.parts().whole().chunks.is_out(2));
  });
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
