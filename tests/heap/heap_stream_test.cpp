// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a heap on a stream waits for. In the CPU model every launch has ended when it returns.
#include "device_array.hpp"

#include "warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Waits for the host's word, two seconds or so at most; leaves what it saw.
struct wait_for_host {
  std::uint32_t* word;
  std::uint32_t* seen;

  WARPHEAP_DEVICE void operator()() const {
    const simt::atomic_ref said(*word);
    const std::uint64_t start = simt::ticks();
    while (said.load(simt::order::relaxed) == 0 && simt::ticks() - start < 4'000'000'000) {
      simt::backoff(1000);
    }
    *seen = said.load(simt::order::relaxed);
  }
};

TEST(stream, a_heap_waits_for_its_own_stream_alone) {
  const device_array<std::uint32_t> words(2);
  const device_array<std::byte> memory(1_MiB);
  const region given{memory.get(), memory.size()};
  const device busy = machine().queue();
  const device own = machine().queue();
  // All kernels have been loaded once, which may itself wait.
  warpheap::heap subject(own, 64_MiB);
  subject.stats();
  words.write({1, 0});
  busy.launch({1, 1}, wait_for_host{words.get(), words.get() + 1});
  busy.synchronize();
  words.write({0, 0});

  busy.launch({1, 1}, wait_for_host{words.get(), words.get() + 1});
  subject.stats();
  subject.validate();
  subject.reset();
  { const warpheap::heap in_given_memory(own, given); }
  const std::uint32_t go = 1;
  own.copy_to_device(words.get(), &go, sizeof go);
  busy.synchronize();
  EXPECT_EQ(words.read()[1], 1u) << "the heap waited until the other stream's kernel gave up";
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
