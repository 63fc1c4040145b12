// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wrong uses, each of which `checked` must name and none of which it may blame on a sound block.
#include "device_array.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"
#include "warpheap/managers/random_walk/rw_bm.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using kind = incident::kind;

enum class wrong_use : std::uint32_t {
  none,
  double_free,       ///< by another lane of another warp
  foreign_free,      ///< of memory that is not the heap's
  interior_free,     ///< of a pointer into the block
  free_of_no_block,  ///< of an address of the heap where no block is
  overrun_by_one,
  overrun,        ///< by 24 bytes, beyond the guard of its own
  large_overrun,  ///< far into the next block
  underrun_by_one,
  underrun,        ///< by 24 bytes
  use_after_free,  ///< a write to a freed block
};
constexpr int kinds = 10;
constexpr int uses = 100;
/// One right use around each wrong one.
constexpr int blocks_each = 3;
constexpr int blocks = uses * blocks_each;

struct plan {
  wrong_use what;
  std::uint32_t bytes;
};

/// Phase 0: lane i takes block i. Phase 1: it writes all of it, and what is beyond. Phase 2: it
/// frees it, or frees something else. Phase 3: what is wrong about freed blocks.
template <class Handle>
struct use_blocks {
  Handle heap;
  const plan* plans;
  std::byte** taken;
  std::byte* elsewhere;
  int phase;

  WARPHEAP_DEVICE void operator()() const {
    const auto rank = static_cast<int>(simt::thread_rank());
    if (rank >= blocks) return;
    const plan mine = plans[rank];
    const auto tagged = heap.tagged(static_cast<std::uint32_t>(rank) + 1);
    std::byte* block = taken[rank];
    switch (phase) {
      case 0:
        taken[rank] = static_cast<std::byte*>(tagged.malloc(mine.bytes));
        break;
      case 1:
        write(block, mine);
        break;
      case 2:
        if (mine.what == wrong_use::foreign_free) tagged.free(elsewhere + rank * 16);
        if (mine.what == wrong_use::interior_free) tagged.free(block + 16);
        // What lies behind the guard of the last block, and no block was ever there.
        if (mine.what == wrong_use::free_of_no_block) tagged.free(elsewhere + blocks * 16 + 64);
        tagged.free(block);
        break;
      default:
        if (mine.what == wrong_use::use_after_free) block[mine.bytes / 2] = std::byte{1};
        if (mine.what == wrong_use::double_free) tagged.free(block);
        break;
    }
  }

  WARPHEAP_DEVICE static void write(std::byte* block, const plan& how) {
    int from = 0;
    int to = static_cast<int>(how.bytes);
    switch (how.what) {
      case wrong_use::overrun_by_one:
        to += 1;
        break;
      case wrong_use::overrun:
        to += 24;
        break;
      case wrong_use::large_overrun:
        to += 120;
        break;
      case wrong_use::underrun_by_one:
        from = -1;
        break;
      case wrong_use::underrun:
        from = -24;
        break;
      default:
        break;
    }
    for (int i = from; i < to; ++i) block[i] = std::byte{0x11};
  }
};

/// Blocks in a heap with little room beside them, so that most have neighbours, and what became of
/// them.
template <class M>
class world {
 public:
  using handle_type = handle<M>;

  explicit world(std::size_t heap_bytes) : heap_(machine(), heap_bytes, options()) {
    run(0);
    addresses_ = taken_.read();
    std::vector<int> order(blocks);
    for (int i = 0; i < blocks; ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return addresses_[a] < addresses_[b]; });
    // The middle one of three neighbours is used wrongly.
    for (int i = 0; i < uses; ++i) {
      wrong_.push_back(order[i * blocks_each + 1]);
      plans_[wrong_.back()].what = static_cast<wrong_use>(i % kinds + 1);
    }
    device_plans_.write(plans_);
  }

  void misuse() {
    run(1);
    run(2);
    run(3);
  }

  incident_report report() const { return heap_.incidents(); }
  const heap<M>& of() const { return heap_; }
  const std::vector<int>& wrong() const { return wrong_; }
  wrong_use what(int i) const { return plans_[i].what; }
  std::uint64_t address(int i) const { return reinterpret_cast<std::uintptr_t>(addresses_[i]); }
  /// The number of the block at an address, or -1.
  int block_at(std::uint64_t address) const {
    for (int i = 0; i < blocks; ++i) {
      if (this->address(i) == address) return i;
    }
    return -1;
  }

 private:
  static typename M::options options() {
    typename M::options settings{};
    if constexpr (page_manager<M>) settings.page_bytes = 48;
    return settings;
  }
  void run(int phase) {
    machine().launch(covering(blocks),
                     use_blocks<handle_type>{heap_.ref(), device_plans_.get(), taken_.get(),
                                             elsewhere_.get(), phase});
    machine().synchronize();
  }

  std::vector<plan> plans_ = std::vector<plan>(blocks, plan{wrong_use::none, 40});
  device_array<plan> device_plans_{plans_};
  device_array<std::byte*> taken_{std::size_t{blocks}};
  device_array<std::byte> elsewhere_{std::size_t{blocks} * 16 + 128};
  heap<M> heap_;
  std::vector<std::byte*> addresses_;
  std::vector<int> wrong_;
};

/// Whether an incident is the right one for a wrong use of block `block` by lane `i`.
bool names(const incident& found, wrong_use what, std::uint64_t block, int i) {
  const auto tag = static_cast<std::uint32_t>(i) + 1;
  const auto rank = static_cast<std::uint32_t>(i);
  const auto is_lane = [&](const caller& by) {
    return by.tag() == tag && by.thread() == rank % block_threads &&
           by.block() == rank / block_threads;
  };
  const bool named = found.block == block && found.bytes == 40 && is_lane(found.allocated);
  switch (what) {
    case wrong_use::double_free:
      return found.what == kind::double_free && named && found.address == block &&
             is_lane(found.freed) && is_lane(found.noticed);
    case wrong_use::foreign_free:
    case wrong_use::free_of_no_block:
      return found.what == kind::foreign_free && found.block == 0 && is_lane(found.noticed);
    case wrong_use::interior_free:
      return found.what == kind::interior_free && named && found.address == block + 16 &&
             is_lane(found.noticed);
    case wrong_use::overrun_by_one:
    case wrong_use::overrun:
      return found.what == kind::overrun && named && found.address == block + 40;
    case wrong_use::large_overrun:
      // It ends in the next block's contents, or behind that.
      return (found.what == kind::overrun || found.what == kind::overwritten) && named &&
             found.address == block + 40;
    case wrong_use::underrun_by_one:
    case wrong_use::underrun:
      return found.what == kind::underrun && named;
    case wrong_use::use_after_free:
      return found.what == kind::use_after_free && named && found.address == block + 20 &&
             is_lane(found.freed);
    case wrong_use::none:
      break;
  }
  return false;
}

template <class M>
void expect_all_named(std::size_t heap_bytes, bool finds_late_writes) {
  world<M> test(heap_bytes);
  test.misuse();
  const incident_report report = test.report();
  std::size_t expected = 0;
  for (const int i : test.wrong()) {
    if (test.what(i) == wrong_use::use_after_free && !finds_late_writes) continue;
    ++expected;
    const auto right = [&](const incident& found) {
      return names(found, test.what(i), test.address(i), i);
    };
    EXPECT_EQ(std::count_if(report.incidents.begin(), report.incidents.end(), right), 1)
        << "wrong use " << static_cast<int>(test.what(i)) << " of block "
        << incident::hex(test.address(i)) << ", lane " << i;
  }
  EXPECT_EQ(report.incidents.size(), expected);
  for (const incident& found : report.incidents) {
    const int block = test.block_at(found.block);
    EXPECT_TRUE(found.block == 0 || (block >= 0 && test.what(block) != wrong_use::none))
        << "blames a block that was used as it should be: " << found.describe();
  }
  EXPECT_EQ(report.unrecorded, 0u);
  EXPECT_TRUE(report.leaks.empty()) << report.leaks[0].describe();
  // Each is reported once, however often the host asks.
  EXPECT_EQ(test.report().incidents.size(), expected);
  EXPECT_TRUE(test.of().validate().ok()) << test.of().validate().describe();
}

constexpr std::size_t kib = 1024;
constexpr checked_config with_quarantine{.quarantine_blocks = 512};

TEST(checked_layer, a_hundred_wrong_uses_of_pages_are_named) {
  expect_all_named<checked<rw_bm<>, with_quarantine>>(150 * kib, true);
}

TEST(checked_layer, a_hundred_wrong_uses_of_slices_are_named) {
  expect_all_named<checked<gallatin<>, with_quarantine>>(8192 * kib, true);
}

TEST(checked_layer, without_a_quarantine_all_but_late_writes_are_named) {
  expect_all_named<checked<rw_bm<>>>(150 * kib, false);
  expect_all_named<checked<rw_malloc<>>>(1024 * kib, false);
}

TEST(checked_layer, all_are_named_over_another_layer) {
  expect_all_named<checked<counted<rw_bm<>>>>(200 * kib, false);
}

/// Takes `count` blocks and frees none.
template <class Handle>
struct leak_blocks {
  Handle heap;
  std::uint64_t count;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) heap.tagged(rank % 2 == 0 ? 7 : 0).malloc(rank % 3 == 0 ? 16 : 100);
  }
};

TEST(checked_layer, leaks_are_summed_up_by_size_and_tag) {
  using manager_type = checked<rw_malloc<>>;
  constexpr std::uint64_t count = sanitized ? 600 : 12'000;
  const heap<manager_type> heap(machine(), std::size_t{16} << 20);
  machine().launch(covering(count), leak_blocks<handle<manager_type>>{heap.ref(), count});
  const incident_report report = heap.incidents();
  EXPECT_TRUE(report.incidents.empty());
  ASSERT_EQ(report.leaks.size(), 4u);
  std::uint64_t blocks_seen = 0;
  for (const leak_group& group : report.leaks) {
    EXPECT_TRUE(group.bytes == 16 || group.bytes == 100) << group.bytes;
    EXPECT_TRUE(group.tag == 7 || group.tag == 0) << group.tag;
    EXPECT_EQ(group.blocks, group.bytes == 16 ? count / 6 : count / 3);
    EXPECT_EQ(group.examples.size(), leak_group::most_examples);
    for (const auto& example : group.examples) EXPECT_EQ(example.allocated.tag(), group.tag);
    blocks_seen += group.blocks;
  }
  EXPECT_EQ(blocks_seen, count);
  EXPECT_EQ(report.leaks[0].bytes, 100u) << "the most bytes come first";
  EXPECT_EQ(report.lines().size(), 4u);
  EXPECT_NE(report.lines()[0].find("leak: " + std::to_string(count / 3) + " blocks of 100 bytes"),
            std::string::npos)
      << report.lines()[0];
}

TEST(checked_layer, the_destructor_reports_a_few_lines) {
  using manager_type = checked<rw_malloc<>>;
  ::testing::internal::CaptureStderr();
  {
    const heap<manager_type> heap(machine(), std::size_t{4} << 20);
    machine().launch(covering(600), leak_blocks<handle<manager_type>>{heap.ref(), 600});
  }
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 4) << said;
  EXPECT_EQ(said.rfind("warpheap: leak: 200 blocks of 100 bytes", 0), 0u) << said;
}

TEST(checked_layer, a_heap_that_was_used_rightly_says_nothing) {
  ::testing::internal::CaptureStderr();
  { const heap<checked<rw_malloc<>>> unused(machine(), std::size_t{1} << 20); }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

/// One lane takes two blocks, writes from `from` up to `to`, relative to the lower one, and frees
/// them, the lower one first or last.
template <class Handle>
struct write_range {
  Handle heap;
  int from;
  int to;
  bool lower_first;
  std::byte** taken;

  WARPHEAP_DEVICE void operator()() const {
    auto* one = static_cast<std::byte*>(heap.malloc(40));
    auto* two = static_cast<std::byte*>(heap.malloc(40));
    taken[0] = one < two ? one : two;
    taken[1] = one < two ? two : one;
    for (int i = from; i < to; ++i) taken[0][i] = std::byte{0x11};
    heap.free(taken[lower_first ? 0 : 1]);
    heap.free(taken[lower_first ? 1 : 0]);
  }
};

/// The incidents when a single lane writes a range around two neighbouring blocks of 40 bytes.
std::vector<incident> after_write(int from, int to, bool lower_first, std::byte* (&taken)[2]) {
  using manager_type = checked<gallatin<>>;
  static heap<manager_type> heap(machine(), std::size_t{1} << 20);
  heap.reset();
  const device_array<std::byte*> blocks_taken(2);
  machine().launch({1, 1}, write_range<handle<manager_type>>{heap.ref(), from, to, lower_first,
                                                             blocks_taken.get()});
  const auto read = blocks_taken.read();
  taken[0] = read[0];
  taken[1] = read[1];
  EXPECT_EQ(taken[1] - taken[0], 128) << "slices of 128 bytes";
  return heap.incidents().incidents;
}

TEST(checked_layer, each_byte_of_the_guards_is_looked_at) {
  std::byte* taken[2];
  for (const bool lower_first : {true, false}) {
    // 40 bytes, a guard of 40, 16 that are nobody's, a guard of 32.
    for (int at = -32; at < 160; ++at) {
      const bool is_guard = at < 0 || (at >= 40 && at < 80) || (at >= 96 && at < 128);
      const auto found = after_write(at, at + 1, lower_first, taken);
      ASSERT_EQ(found.size(), is_guard ? 1u : 0u) << "byte " << at;
      if (!is_guard) continue;
      const kind expected = at == 40                ? kind::overrun
                            : at == -1 || at == 127 ? kind::underrun
                                                    : kind::overwritten;
      EXPECT_EQ(found[0].what, expected) << "byte " << at;
      EXPECT_EQ(found[0].address, reinterpret_cast<std::uintptr_t>(taken[0] + at));
    }
  }
}

TEST(checked_layer, damage_between_two_blocks_is_blamed_on_where_it_began) {
  std::byte* taken[2];
  for (const bool lower_first : {true, false}) {
    const auto blamed = [&](int from, int to) {
      const auto found = after_write(from, to, lower_first, taken);
      EXPECT_EQ(found.size(), 1u) << from << " to " << to;
      return found.empty() ? incident{} : found[0];
    };
    const auto lower = [&] { return reinterpret_cast<std::uintptr_t>(taken[0]); };
    const auto upper = [&] { return reinterpret_cast<std::uintptr_t>(taken[1]); };
    incident found = blamed(40, 127);  // all but the last byte before the upper block
    EXPECT_EQ(found.what, kind::overrun);
    EXPECT_EQ(found.block, lower());
    found = blamed(41, 128);  // all but the first byte behind the lower one
    EXPECT_EQ(found.what, kind::underrun);
    EXPECT_EQ(found.block, upper());
    found = blamed(40, 140);  // into the upper one, or out of it
    EXPECT_EQ(found.what, kind::overwritten);
    EXPECT_EQ(found.block, lower());
    EXPECT_EQ(found.other, upper());
    found = blamed(40, 170);  // across the upper one and into what is behind it
    EXPECT_EQ(found.what, kind::overrun);
    EXPECT_EQ(found.block, lower());
    found = blamed(-2, 128);  // across the lower one, out of the upper one
    EXPECT_EQ(found.what, kind::underrun);
    EXPECT_EQ(found.block, upper());
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
