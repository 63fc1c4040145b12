// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The smallest pages, larger ones, and some whose size is not a power of two.
inline constexpr std::size_t page_sizes[]{16, 48, 256, 1040};

/// Heaps of pages, whose size their options say.
template <class M>
class page_fixture : public block_fixture<M> {
 public:
  static constexpr std::size_t pages = 500;

  /// A heap with about that many pages.
  static std::shared_ptr<heap<M>> make_heap_of(std::size_t page_bytes) {
    return block_fixture<M>::make_heap(page_bytes, pages * page_bytes);
  }
};

/// The suite of pages: what their contract says beyond that of blocks.
struct pages {
  template <class M>
  static constexpr bool models = page_manager<M>;
  template <class M>
  using fixture = page_fixture<M>;
};

/// Lane i writes all of page i.
struct stamp_pages {
  std::size_t page_bytes;
  void** pages;
  std::uint64_t count;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count && pages[rank] != nullptr) stamp(pages[rank], page_bytes, rank);
  }
};

CONFORMANCE_TEST(pages, a_request_of_any_size_gets_a_whole_page) {
  for (const std::size_t page_bytes : page_sizes) {
    SCOPED_TRACE("pages of " + std::to_string(page_bytes) + " bytes");
    const auto heap = this->make_heap_of(page_bytes);
    ASSERT_EQ(heap->largest_block(), page_bytes);
    std::vector<std::uint64_t> sizes(this->pages / 2);
    random_sequence random(this->seed);
    for (auto& bytes : sizes) bytes = 1 + random.below(static_cast<std::uint32_t>(page_bytes));
    const auto blocks = this->take(*heap, sizes).blocks;
    const device_array<void*> taken(blocks);
    machine().launch(covering(blocks.size()), stamp_pages{page_bytes, taken.get(), blocks.size()});
    const std::vector<std::uint64_t> whole(sizes.size(), page_bytes);
    this->expect_served_and_freed(*heap, {whole, blocks});
  }
}

CONFORMANCE_TEST(pages, a_heap_holds_the_same_number_of_blocks_of_every_size) {
  for (const std::size_t page_bytes : page_sizes) {
    SCOPED_TRACE("pages of " + std::to_string(page_bytes) + " bytes");
    const auto heap = this->make_heap_of(page_bytes);
    const std::size_t count = this->take_all(*heap, page_bytes).blocks.size();
    EXPECT_GE(count, this->pages / 2);
    for (const std::size_t bytes : {std::size_t{1}, page_bytes / 2, page_bytes - 1}) {
      const auto another = this->make_heap_of(page_bytes);
      EXPECT_EQ(this->take_all(*another, bytes).blocks.size(), count) << bytes;
      this->expect_in_use(*another, count);
    }
  }
}

CONFORMANCE_TEST(pages, freed_pages_serve_requests_of_other_sizes) {
  WARPHEAP_REQUIRE(TypeParam::about.frees, "blocks that are freed");
  constexpr std::size_t page_bytes = 256;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, page_bytes}) {
    const auto heap = this->make_heap_of(page_bytes);
    const holding held = this->take_all(*heap, page_bytes);
    std::vector<std::uint64_t> even;
    std::vector<std::uint64_t> odd;
    for (std::uint64_t i = 0; i < held.blocks.size(); ++i) (i % 2 == 0 ? even : odd).push_back(i);
    this->give(*heap, held, even);
    EXPECT_EQ(this->take_all(*heap, bytes).blocks.size(), even.size()) << bytes;
    this->give(*heap, held, odd);
    this->expect_valid(*heap);
    this->expect_in_use(*heap, even.size());
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
