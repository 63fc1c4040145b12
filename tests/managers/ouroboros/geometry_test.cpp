// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes and limits, on the host: heaps of any size, whose memory is never touched.
#include "variants.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using sizes = ouroboros_parts::geometry<ouroboros_config{}>;

TEST(ouroboros_geometry, a_size_has_the_smallest_page_that_holds_it) {
  EXPECT_EQ(sizes::classes, 12u);
  for (std::uint32_t cls = 0; cls < sizes::classes; ++cls) {
    const std::size_t page = std::size_t{16} << cls;
    EXPECT_EQ(sizes::page_log2(cls), 4 + static_cast<int>(cls));
    EXPECT_EQ(sizes::class_of(page), cls);
    EXPECT_EQ(sizes::class_of(page / 2 + 1), cls);
    EXPECT_EQ(sizes::class_of(page - 1), cls);
  }
  EXPECT_EQ(sizes::class_of(1), 0u);
}

TEST(ouroboros_geometry, chunks_of_the_stacked_instance_are_runs_of_base_chunks) {
  EXPECT_EQ(sizes::chunk_bytes, 8192u);
  for (std::uint32_t cls = 0; cls < 10; ++cls) {
    EXPECT_EQ(sizes::span_log2(cls), 0);
    EXPECT_EQ(1 << sizes::pages_log2(cls), 512 >> cls);
  }
  EXPECT_EQ(sizes::span_log2(10), 2);
  EXPECT_EQ(sizes::span_log2(11), 2);
  EXPECT_EQ(sizes::pages_log2(10), 1);
  EXPECT_EQ(sizes::pages_log2(11), 0);
  using three = ouroboros_parts::geometry<ouroboros_config{.second_queues = 1, .third_queues = 2}>;
  EXPECT_EQ(three::span_log2(9), 0);
  EXPECT_EQ(three::span_log2(10), 1);
  EXPECT_EQ(three::span_log2(11), 3);
  EXPECT_EQ(three::span_log2(12), 3);
  EXPECT_EQ(three::pages_log2(11), 1);
}

TEST(ouroboros_geometry, a_state_word_holds_what_it_is_made_of) {
  using ouroboros_parts::chunk_kind;
  using ouroboros_parts::chunk_state;
  const auto data = chunk_state::data(23, 512);
  EXPECT_EQ(data.kind(), chunk_kind::data);
  EXPECT_EQ(data.cls(), 23u);
  EXPECT_EQ(data.free_pages(), 512u);
  EXPECT_EQ(chunk_state::data(23, 0).free_pages(), 0u);
  EXPECT_EQ(chunk_state::tail(15).kind(), chunk_kind::tail);
  EXPECT_EQ(chunk_state::tail(15).offset(), 15u);
  EXPECT_EQ(chunk_state::queue().kind(), chunk_kind::queue);
  EXPECT_EQ(chunk_state(0).kind(), chunk_kind::unused);
}

template <class M>
class ouroboros_limits : public ::testing::Test {
 protected:
  /// A region that does not exist.
  static region nowhere(std::size_t bytes) {
    return {reinterpret_cast<std::byte*>(std::size_t{1} << 40), bytes};
  }
  /// A manager over it.
  static M over(std::size_t bytes) { return M(nowhere(bytes), simt::device_properties{}, {}); }
};
TYPED_TEST_SUITE(ouroboros_limits, all_variants, manager_names);

TYPED_TEST(ouroboros_limits, nearly_all_of_a_heap_is_for_data) {
  for (const std::size_t gib : {2, 16, 100, 139}) {
    const std::size_t bytes = gib << 30;
    const TypeParam manager = this->over(bytes);
    const auto& map = manager.map();
    const std::size_t data = std::size_t{map.chunk_count() - map.for_queues()} * 8192;
    EXPECT_GE(static_cast<double>(data), 0.98 * static_cast<double>(bytes)) << gib << " GiB";
    EXPECT_LE(data, bytes);
  }
}

// 23 bits of chunk index end at 65 GiB, and the last index equals the published marker.
TYPED_TEST(ouroboros_limits, indices_of_a_heap_of_100_gib_fit) {
  const TypeParam manager = this->over(std::size_t{100} << 30);
  const auto& map = manager.map();
  const std::uint32_t last = map.chunk_count() - 1;
  EXPECT_GT(last, 1u << 23);
  const auto* end = reinterpret_cast<std::byte*>((std::size_t{1} << 40) + (std::size_t{100} << 30));
  const auto* page = static_cast<std::byte*>(map.page(0, last, 511));
  EXPECT_LE(page + 16, end);
  EXPECT_GT(page + 2 * 8192, end) << "more than a chunk is left over";
  EXPECT_EQ(map.offset_of(page) >> 13, last);
  // Each kind of queue has room for what can be in it.
  const auto& amounts = map.all_amounts();
  using map_type = std::remove_cvref_t<decltype(map)>;
  if (map_type::virtualised) {
    EXPECT_GE(std::uint64_t{1} << amounts.pointers_log2, amounts.for_queues);
    EXPECT_GE(std::uint64_t{amounts.for_queues} * 1024, map_type::pages ? amounts.room() : last);
  } else if (!map_type::pages) {
    EXPECT_GT(std::uint64_t{1} << amounts.slots_log2, last);
  }
}

TYPED_TEST(ouroboros_limits, a_heap_may_have_as_many_chunks_as_there_are_numbers) {
  using amounts = std::remove_cvref_t<decltype(this->over(0).map().all_amounts())>;
  const std::size_t most = std::size_t{amounts::most_chunks} << 13;
  // By numbers, which the header must not move: entries have 27 bits for a chunk, and a semaphore
  // counts below 2^35 pages of 16 bytes.
  const std::size_t gib = std::size_t{1} << 30;
  EXPECT_EQ(most, amounts::pages ? 1024 * gib : 512 * gib - 8192);
  EXPECT_GT(this->over(most).map().chunk_count(), amounts::most_chunks / 10 * 9);
  EXPECT_THROW(this->over(most + 1), invalid_argument);
}

TYPED_TEST(ouroboros_limits, a_heap_that_is_too_small_says_how_much_it_needs) {
  try {
    this->over(4096);
    FAIL() << "4 KiB were enough";
  } catch (const invalid_argument& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("4096"), std::string::npos) << message;
    EXPECT_NE(message.find(TypeParam::about.name), std::string::npos) << message;
  }
  try {
    detail::lay_out<TypeParam>(this->nowhere(4096), simt::device_properties{}, {});
    FAIL() << "4 KiB were enough";
  } catch (const region_too_small& refusal) {
    EXPECT_NO_THROW(this->over(refusal.enough())) << refusal.what();
    EXPECT_THROW(this->over(refusal.enough() - 1), region_too_small) << refusal.what();
    // Room for one chunk of the longest pages, beside what queues may take.
    const TypeParam smallest = this->over(refusal.enough());
    EXPECT_EQ(smallest.map().chunk_count(), smallest.map().for_queues() + sizes::most_span);
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
