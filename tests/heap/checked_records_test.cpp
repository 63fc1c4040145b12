// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which records the layer `checked` trusts, and what its quarantine keeps back.
#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/checked/leaks.hpp"
#include "warpheap/heap/layers/checked/quarantine.hpp"
#include "warpheap/managers/random_walk/rw_bm.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using kind = incident::kind;
constexpr std::size_t kib = 1024;

/// A lane takes a block, which it frees and then resizes, or whose record a stray write hits.
template <class Handle>
struct use_one_block {
  Handle heap;
  std::byte** taken;
  int phase;
  std::uint64_t* stray;

  WARPHEAP_DEVICE void operator()() const {
    const auto tagged = heap.tagged(4242);
    switch (phase) {
      case 0:
        taken[0] = static_cast<std::byte*>(tagged.malloc(40));
        break;
      case 1:
        *stray = 0x1111111111111111;
        break;
      case 2:
        tagged.free(taken[0]);
        break;
      default:
        taken[0] = static_cast<std::byte*>(tagged.realloc(taken[0], 20));
        break;
    }
  }
};

TEST(checked_records, a_freed_block_that_is_resized_is_a_double_free) {
  // In quarantine, so that the block of the new size does not lie in its place by chance.
  using manager_type = checked<rw_bm<>, checked_config{.quarantine_blocks = 1}>;
  const heap<manager_type> heap(machine(), 100 * kib, {.page_bytes = 48});
  const device_array<std::byte*> taken(1);
  for (const int phase : {0, 2, 3}) {
    machine().launch({1, 1},
                     use_one_block<handle<manager_type>>{heap.ref(), taken.get(), phase, {}});
  }
  const auto report = heap.incidents();
  ASSERT_EQ(report.incidents.size(), 1u);
  EXPECT_EQ(report.incidents[0].what, kind::double_free);
  EXPECT_EQ(report.incidents[0].freed.tag(), 4242u);
}

TEST(checked_records, a_record_that_was_overwritten_is_reported_and_not_believed) {
  using manager_type = checked<rw_bm<>>;
  const device_array<std::byte> memory(100 * kib);
  const heap<manager_type> heap(machine(), region{memory.get(), memory.size()}, {.page_bytes = 48});
  const device_array<std::byte*> taken(1);
  const auto run = [&](int phase, std::uint64_t* stray) {
    machine().launch({1, 1},
                     use_one_block<handle<manager_type>>{heap.ref(), taken.get(), phase, stray});
    machine().synchronize();
  };
  run(0, nullptr);
  // The record has the tag in its second word.
  const auto contents = memory.read();
  std::uint64_t record = 0;
  for (std::size_t at = 0; at + 8 <= contents.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, contents.data() + at, sizeof word);
    if (word == 4242) record = at - 8;
  }
  ASSERT_NE(record, 0u);
  run(1, reinterpret_cast<std::uint64_t*>(memory.get() + record));
  // One lane looks at all records, and the damage of one is not that of those behind it.
  machine().launch({1, 1}, checking::examine_lanes<manager_type>{heap.ref().manager()});
  for (int times = 0; times < 2; ++times) {
    const auto report = heap.incidents();
    ASSERT_EQ(report.incidents.size(), 1u) << "reported once";
    EXPECT_EQ(report.incidents[0].what, kind::damaged_record);
    EXPECT_EQ(report.incidents[0].address, reinterpret_cast<std::uintptr_t>(memory.get() + record));
  }
  run(2, nullptr);
  const auto report = heap.incidents();
  ASSERT_EQ(report.incidents.size(), 2u);
  EXPECT_EQ(report.incidents[1].what, kind::damaged_record) << "what was freed is not known";
  EXPECT_EQ(report.incidents[1].address, reinterpret_cast<std::uintptr_t>(taken.read()[0]));
}

// Host code may call what lanes do where lanes are host code.
#if !WARPHEAP_CUDA_MODEL
TEST(checked_quarantine, of_any_size_keeps_as_many_blocks) {
  std::uint64_t turns = 0;
  std::vector<std::uint64_t> slots(3);
  const checking::quarantine kept(&turns, slots.data(), slots.size());
  std::byte blocks[7];
  for (std::size_t i = 0; i < 7; ++i) {
    std::byte* const oldest = i < 3 ? nullptr : &blocks[i - 3];
    EXPECT_EQ(kept.replace(&blocks[i]), oldest) << i;
  }
}

// What is kept back is memory all the same.
TEST(checked_quarantine, gives_all_blocks_back_when_memory_is_exhausted) {
  constexpr std::uint32_t kept = 5;
  const heap<checked<rw_malloc<>, checked_config{.quarantine_blocks = kept}>> subject(machine(),
                                                                                      1024 * kib);
  const block_list all = take_all(subject, 4000, 8);
  ASSERT_GT(all.size(), kept);
  give(subject, block_list(all.begin(), all.begin() + kept));
  EXPECT_EQ(take_all(subject, 4000, 1).size(), kept);
}

// Its memory is back with the manager, so a pointer into it belongs to no block.
TEST(checked_quarantine, a_block_that_has_left_it_is_not_blamed) {
  const heap<checked<rw_malloc<>, checked_config{.quarantine_blocks = 1}>> subject(machine(),
                                                                                   1024 * kib);
  std::byte* const gone = take_one(subject, 1000);
  std::byte* const last = take_one(subject, 1000);
  give(subject, {gone});
  give(subject, {last});
  give(subject, {gone + 64});
  const incident_report report = subject.incidents();
  ASSERT_EQ(report.incidents.size(), 1u);
  EXPECT_EQ(report.incidents[0].what, kind::foreign_free);
}

TEST(checked_records, the_first_place_of_the_range_has_a_block_as_well) {
  std::vector<checking::block_record> records(4);
  std::vector<std::byte> memory(4 * checking::block_table::granule);
  const checking::block_table table(records.data(), memory.data(), memory.size());
  table.format(0, 1);
  const std::byte* const block = memory.data() + checking::front_bytes;
  table.add(block, 40, {4242});
  bool damaged = false;
  EXPECT_EQ(table.at(block, damaged).block, block);
  EXPECT_FALSE(damaged);
}

/// A table of 32 granules, each of which has one block at most.
class few_records {
 public:
  few_records() { table.format(0, 1); }

  checking::known_block add(std::uint64_t granule, std::size_t bytes) {
    bool damaged = false;
    const std::byte* block = place(granule) + checking::front_bytes;
    table.add(block, bytes, {4242});
    return table.at(block, damaged);
  }
  const std::byte* place(std::uint64_t granule) const {
    return memory_.data() + granule * checking::block_table::granule;
  }
  /// The block that is found from the end of a granule.
  const std::byte* below(std::uint64_t granule, std::uint64_t most) const {
    return table.at_or_before(place(granule + 1) - 1, most).block;
  }

 private:
  std::vector<checking::block_record> records_{32};
  std::vector<std::byte> memory_ = std::vector<std::byte>(32 * checking::block_table::granule);

 public:
  const checking::block_table table{records_.data(), memory_.data(), memory_.size()};
};

TEST(checked_records, a_block_of_any_size_is_found_from_just_above) {
  for (std::uint64_t granules = 2; granules <= 30; ++granules) {
    for (const std::size_t less : {0, 16, 48}) {
      for (const std::uint64_t at : {0, 1}) {
        few_records test;
        const auto block = test.add(at, granules * 64 - 64 - less);
        ASSERT_EQ(block.end(), test.place(at + granules) - less);
        EXPECT_EQ(test.below(at + granules - 1, 1), block.block)
            << granules << " granules, less " << less << ", at " << at;
        bool damaged = false;
        for (std::uint64_t i = at + 1; i < 32; ++i) EXPECT_FALSE(test.table.look(i, damaged));
        EXPECT_FALSE(damaged) << "a link is not damage";
      }
    }
  }
}

TEST(checked_records, a_block_is_found_from_where_it_begins) {
  few_records test;
  const auto block = test.add(5, 40);
  ASSERT_EQ(block.front(), test.place(5));
  EXPECT_EQ(test.table.at_or_before(test.place(5), 0).block, block.block);
  EXPECT_EQ(test.table.at_or_before(test.place(5) - 1, 31).block, nullptr);
}

TEST(checked_records, a_link_that_has_outlived_its_block_leads_nowhere) {
  few_records test;
  const auto first = test.add(1, 16 * 64);
  EXPECT_EQ(test.below(17, 1), first.block);
  checking::block_table::retire(first);
  EXPECT_EQ(test.below(17, 31), nullptr);
  // Shorter, so that the old link is not its own; then one that begins elsewhere.
  const auto second = test.add(1, 8 * 64);
  EXPECT_EQ(test.below(17, 2), nullptr);
  EXPECT_EQ(test.below(9, 1), second.block);
  EXPECT_EQ(test.below(17, 31), second.block);
  checking::block_table::retire(second);
  const auto third = test.add(16, 40);
  EXPECT_EQ(test.below(17, 1), third.block) << "a block begins where the link was";
}

// The host reads a million records at a time.
TEST(checked_records, a_leak_is_found_wherever_its_record_lies) {
  constexpr std::uint64_t granules = (std::uint64_t{1} << 20) + 4;
  std::vector<checking::block_record> records(granules);
  // Nobody looks at the blocks themselves.
  auto* const base = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 40);
  const checking::block_table table(records.data(), base,
                                    granules * checking::block_table::granule);
  table.format(0, 1);
  const std::byte* const last =
      base + (granules - 3) * checking::block_table::granule + checking::front_bytes;
  table.add(base + checking::front_bytes, 40, {4242});
  table.add(last, 40, {4242});
  const std::vector<leak_group> found = checking::leaks_of(machine(), table);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].blocks, 2u);
  EXPECT_EQ(found[0].examples.back().address, reinterpret_cast<std::uintptr_t>(last));
}
#endif

TEST(checked_guards, the_largest_block_within_some_room_is_the_largest_that_fits) {
  using checking::footprint;
  for (std::size_t room = 0; room < footprint(1); ++room) {
    EXPECT_EQ(checking::largest_within(room), 0u) << room;
  }
  for (std::size_t room = footprint(1); room < footprint(200); ++room) {
    const std::size_t most = checking::largest_within(room);
    EXPECT_LE(footprint(most), room);
    EXPECT_GT(footprint(most + 1), room);
  }
}

/// A manager whose blocks are aligned more than guards are long.
class of_aligned_pages : public rw_bm<> {
 public:
  using rw_bm<>::rw_bm;
  static constexpr capabilities about = [] {
    capabilities more = rw_bm<>::about;
    more.alignment = 4096;
    return more;
  }();
};

TEST(checked_layer, promises_the_alignment_that_is_left_behind_a_guard) {
  EXPECT_EQ(checked<of_aligned_pages>::about.alignment, 16u);
}

struct write_byte {
  std::byte* to;
  WARPHEAP_DEVICE void operator()() const { *to = std::byte{1}; }
};

TEST(checked_layer, freed_blocks_in_quarantine_serve_the_request_that_needs_them) {
  constexpr checked_config with_quarantine{.quarantine_blocks = 512};
  const heap<checked<rw_bm<>, with_quarantine>> heap(machine(), 128 * kib);
  const block_list all = take_all(heap, 100, 32);
  ASSERT_GT(all.size(), 1u);
  ASSERT_LT(all.size(), with_quarantine.quarantine_blocks);
  give(heap, all);
  EXPECT_NE(take_one(heap, 100), nullptr);
}

/// Pages that lanes take without a word to each other, so that none waits for another one.
class lone_pages {
 public:
  using options = no_options;
  static constexpr std::size_t page_bytes = 256;
  static constexpr capabilities about{.name = "lone_pages", .largest_block = page_bytes};

  lone_pages(const region& memory, const simt::device_properties& /*machine*/,
             const options& /*o*/) {
    lay_out_most(memory, about.name, 1u, 1u << 20, [this](region_cursor& to, std::uint32_t count) {
      free_ = {to.take<std::uint64_t>(bitmap_tree::words_for(count)), count};
      pages_ = to.take<std::byte>(std::size_t{count} * page_bytes, 128);
    });
  }
  WARPHEAP_HD std::size_t largest_block() const { return page_bytes; }
  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    free_.format(free_.universe(), rank, count);
  }
  WARPHEAP_DEVICE void* malloc(std::size_t /*bytes*/) const {
    const std::uint32_t page = free_.claim_first();
    return page == bitmap_tree::none ? nullptr : pages_ + page * page_bytes;
  }
  WARPHEAP_DEVICE void free(void* page) const {
    const auto offset = static_cast<std::size_t>(static_cast<std::byte*>(page) - pages_);
    free_.insert(static_cast<std::uint32_t>(offset / page_bytes));
  }
  WARPHEAP_DEVICE void inspect(std::uint64_t /*rank*/, std::uint64_t /*count*/,
                               inspection& /*found*/) const {}

 private:
  bitmap_tree free_{nullptr, 1};
  std::byte* pages_ = nullptr;
};

// Lanes that call together share the slots out: what one of two finds in its own is damaged, and
// stays out of use.
TEST(checked_layer, what_one_lane_takes_out_of_quarantine_serves_the_others_too) {
  constexpr checked_config four_blocks{.quarantine_blocks = 4};
  for (const std::size_t damaged : {0, 1}) {
    const heap<checked<lone_pages, four_blocks>> heap(machine(), 128 * kib);
    const block_list all = take_all(heap, 100, 32);
    ASSERT_GT(all.size(), 30u);
    for (std::size_t slot = 0; slot < 4; ++slot) give(heap, {all[slot * 10]});
    for (const std::size_t slot : {damaged, damaged + 2}) {
      const std::size_t last = 100 + checking::rear_bytes(100) - 1;
      machine().launch({1, 1}, write_byte{all[slot * 10] + last});
    }
    EXPECT_EQ(take(heap, 100, 2).size(), 2u) << damaged;
  }
}

TEST(checked_layer, a_reset_forgets_what_is_in_quarantine) {
  constexpr checked_config with_quarantine{.quarantine_blocks = 512};
  heap<checked<rw_bm<>, with_quarantine>> heap(machine(), 128 * kib);
  give(heap, take_all(heap, 100, 32));
  heap.reset();
  const block_list all = take_all(heap, 100, 32);
  ASSERT_GT(all.size(), 1u);
  // What was in quarantine before would be given to the manager, while it is in use again.
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(heap.stats().blocks_in_use, all.size());
  give(heap, all);
}

TEST(checked_layer, a_late_write_is_reported_when_its_block_leaves_quarantine) {
  constexpr checked_config one_block{.quarantine_blocks = 1};
  using manager_type = checked<rw_bm<>, one_block>;
  const heap<manager_type> heap(machine(), 128 * kib);
  std::byte* const late = take_one(heap, 100);
  give(heap, {late});
  machine().launch({1, 1}, write_byte{late + 99});
  give(heap, {take_one(heap, 100)});
  // The block is the manager's by now, so that no later look can find this.
  EXPECT_EQ(heap.stats().blocks_in_use, 1u);
  const incident_report report = heap.incidents();
  ASSERT_EQ(report.incidents.size(), 1u);
  EXPECT_EQ(report.incidents[0].what, kind::use_after_free);
  EXPECT_EQ(report.incidents[0].block, reinterpret_cast<std::uintptr_t>(late));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
