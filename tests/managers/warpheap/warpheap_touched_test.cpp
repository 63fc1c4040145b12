// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a heap that grows touches of its region: the rest is addresses without memory here.
#include "device_array.hpp"
#include "machine.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// Addresses of which none is memory at first.
class address_space {
 public:
  explicit address_space(std::size_t bytes)
      : bytes_(bytes), base_(::mmap(nullptr, bytes, PROT_NONE, flags, -1, 0)) {
    EXPECT_NE(base_, MAP_FAILED);
  }
  ~address_space() { ::munmap(base_, bytes_); }
  address_space(const address_space&) = delete;
  address_space& operator=(const address_space&) = delete;

  region all() const { return {static_cast<std::byte*>(base_), bytes_}; }

  /// Makes the pages of a part memory that holds rubbish, unless they are memory already.
  void back(const region& part) {
    const auto page = static_cast<std::uintptr_t>(::getpagesize());
    const auto begin = reinterpret_cast<std::uintptr_t>(part.base);
    for (std::uintptr_t at = round_down(begin, page); at < begin + part.bytes; at += page) {
      const std::size_t number = (at - reinterpret_cast<std::uintptr_t>(base_)) / page;
      if (backed_.size() <= number) backed_.resize(number + 1);
      if (backed_[number]) continue;
      backed_[number] = true;
      ++pages_;
      void* const there = reinterpret_cast<void*>(at);
      EXPECT_EQ(::mprotect(there, page, PROT_READ | PROT_WRITE), 0);
      std::memset(there, 0xcd, page);
    }
  }
  std::size_t bytes_backed() const { return pages_ * static_cast<std::size_t>(::getpagesize()); }

 private:
  static constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

  std::size_t bytes_;
  void* base_;
  std::vector<bool> backed_;
  std::size_t pages_ = 0;
};

using manager = warpheap_manager<>;

enum class call { format, reset, grow, fill, drain, inspect };

struct one_call {
  manager heap;
  call what;
  std::size_t bytes;
  std::vector<void*>* blocks;
  inspection* found;
  WARPHEAP_DEVICE void operator()() const {
    if (what == call::format) heap.format(0, 1);
    if (what == call::reset) heap.reset(0, 1);
    if (what == call::inspect) heap.inspect(0, 1, *found);
    if (what == call::grow) {
      EXPECT_EQ(heap.grow(simt::warp(), bytes), growth_outcome::grown);
    }
    if (what == call::fill) {
      while (void* const block = heap.malloc(bytes)) {
        std::memset(block, 0xee, bytes);
        blocks->push_back(block);
      }
    }
    if (what == call::drain) {
      for (void* const block : *blocks) heap.free(block);
      blocks->clear();
    }
  }
};

constexpr std::size_t reserved = 64_MiB;

class touched : public ::testing::Test {
 protected:
  touched() { back(first); }

  void back(std::size_t bytes) {
    for (const region& part : heap_.touched(bytes)) space_.back(part);
  }
  void run(call what, std::size_t bytes = 0) {
    machine().launch({1, 1}, one_call{heap_, what, bytes, &blocks_, &found_});
  }
  void expect_valid() {
    found_ = {};
    run(call::inspect);
    for (const std::uint64_t times : found_.violations) EXPECT_EQ(times, 0u);
  }

  static constexpr std::size_t first = 256_KiB;
  address_space space_{reserved};
  manager heap_{space_.all(), machine().properties(), {.initial_bytes = first}};
  std::vector<void*> blocks_;
  inspection found_;
};

TEST_F(touched, nothing_but_what_the_manager_names) {
  const std::size_t at_start = space_.bytes_backed();
  EXPECT_LT(at_start, first + reserved / 50);
  run(call::format);
  std::size_t there = first;
  for (const std::size_t more : {std::size_t{0}, heap_.growth_step(), std::size_t{1_MiB}}) {
    if (more != 0) {
      there += more;
      back(there);
      run(call::grow, more);
    }
    for (const std::size_t bytes : {16u, 1000u, 8192u, 40000u}) {
      run(call::fill, bytes);
      EXPECT_GE(blocks_.size() * bytes, there / 2);
      expect_valid();
      run(call::drain);
      expect_valid();
    }
    EXPECT_EQ(found_.bytes_reserved, heap_.largest_block() - there);
    run(call::reset);
    expect_valid();
  }
  // A page for each end of a part.
  const auto pages = 6 * static_cast<std::size_t>(::getpagesize());
  EXPECT_LE(space_.bytes_backed(), at_start + (there - first) * 102 / 100 + pages);
}

/// Of the region of a large heap, which nobody touches here.
TEST(layout, metadata_of_a_reserve_is_little_and_most_of_it_comes_with_the_chunks) {
  for (const std::size_t bytes : {std::size_t{16_GiB}, std::size_t{128_GiB}}) {
    const address_space space(bytes);
    const manager heap(space.all(), machine().properties(), {.initial_bytes = 64_MiB});
    const auto share = [bytes](std::size_t of) {
      return static_cast<double>(of) / static_cast<double>(bytes);
    };
    const std::size_t at_start = heap.touched(64_MiB)[0].bytes;
    EXPECT_LT(share(at_start), 0.004) << bytes;
    EXPECT_LT(share(at_start + heap.touched(heap.largest_block())[1].bytes), 0.016) << bytes;
    EXPECT_GT(share(heap.largest_block()), 0.984) << bytes;
  }
}

/// The chunks of small heaps are small, so that there are enough of them, and each has a hint in
/// every class.
TEST(layout, small_heaps_have_more_metadata_and_those_of_512_MiB_at_most_1_6_percent) {
  struct bound {
    std::size_t bytes;
    double most;
  };
  for (const bound& of : {bound{1_MiB, 0.063}, bound{4_MiB, 0.036}, bound{16_MiB, 0.028},
                          bound{64_MiB, 0.023}, bound{256_MiB, 0.0175}, bound{512_MiB, 0.016},
                          bound{1_GiB, 0.016}, bound{16_GiB, 0.016}, bound{141_GiB, 0.016}}) {
    const address_space space(of.bytes);
    const manager heap(space.all(), machine().properties(), {});
    const double blocks = static_cast<double>(heap.largest_block());
    EXPECT_LT(1 - blocks / static_cast<double>(of.bytes), of.most) << of.bytes;
  }
}

// Whatever the memory held that becomes theirs: it is not the words of any class.
TEST(warpheap_growth, closes_each_word_of_the_chunks_that_come) {
  constexpr std::size_t chunk_bytes = 256;
  const rubbish memory(16_KiB);
  const small all(memory.all(), machine().properties(), {.initial_bytes = 4 * chunk_bytes});
  machine().launch({1, 1}, [&] { all.format(0, 1); });
  std::uint32_t first = 4;
  for (const std::uint32_t chunks : {1u, 2u, 7u}) {
    machine().launch({1, 3}, [&] {
      EXPECT_EQ(all.grow(simt::warp(), chunks * chunk_bytes), growth_outcome::grown);
    });
    for (std::uint32_t c = first; c < first + chunks; ++c) {
      for (std::uint32_t word = 0; word < all.parts().chunks().stride(); ++word) {
        EXPECT_EQ(all.parts().chunks().word(c, word), 0u) << "word " << word << " of chunk " << c;
      }
    }
    first += chunks;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
