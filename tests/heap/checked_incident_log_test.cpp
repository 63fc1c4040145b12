// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `checked` keeps when its log is full, and what it forgets at a reset.
#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

/// One lane writes the byte behind a block, and frees the block.
template <class Handle>
struct overrun_by_one {
  Handle heap;
  WARPHEAP_DEVICE void operator()() const {
    auto* const block = static_cast<std::byte*>(heap.malloc(40));
    block[40] = std::byte{0x11};
    heap.free(block);
  }
};

TEST(checked_log, damage_for_which_there_is_no_room_is_counted) {
  using manager_type = checked<gallatin<>, checked_config{.log_entries = 1}>;
  const heap<manager_type> heap(machine(), std::size_t{1} << 20);
  for (int i = 0; i < 3; ++i) {
    machine().launch({1, 1}, overrun_by_one<handle<manager_type>>{heap.ref()});
  }
  const incident_report report = heap.incidents();
  EXPECT_EQ(report.incidents.size(), 1u);
  EXPECT_EQ(report.unrecorded, 2u);
}

/// A log with room for two incidents, and one more behind it that is not its own.
class log_of_two : public ::testing::Test {
 protected:
  log_of_two() {
    log_.format(0);
    for (incident& one : entries_) one = not_logged;
  }
  incident_report report() const {
    incident_report found;
    log_.read(machine(), found);
    return found;
  }

  static constexpr incident not_logged{incident::kind::foreign_free, 4242};
  static constexpr incident logged{incident::kind::overrun, 1};
  std::uint64_t head_[checking::incident_log::words] = {7, 7};
  incident entries_[3];
  const checking::incident_log log_{head_, entries_, 2};
};

TEST_F(log_of_two, keeps_as_many_as_have_room_and_touches_nothing_behind) {
  machine().launch({1, 1}, [this] {
    for (int i = 0; i < 4; ++i) log_.add(logged);
  });
  EXPECT_EQ(report().incidents.size(), 2u);
  EXPECT_EQ(report().unrecorded, 2u);
  EXPECT_EQ(entries_[2].what, not_logged.what);
  EXPECT_EQ(entries_[2].address, not_logged.address);
}

TEST_F(log_of_two, that_is_exactly_full_lets_no_lane_begin_a_report) {
  bool begins = false;
  const auto begin = [&, to = &begins] {
    *to = log_.begin_report();
    if (*to) log_.end_report();
  };
  machine().launch({1, 1}, [this] { log_.add(logged); });
  machine().launch({1, 1}, begin);
  EXPECT_TRUE(begins) << "there is room for one";
  machine().launch({1, 1}, [this] { log_.add(logged); });
  machine().launch({1, 1}, begin);
  EXPECT_FALSE(begins);
  EXPECT_EQ(report().unrecorded, 1u);
}

TEST(checked_log, a_reset_forgets_blocks_in_use) {
  heap<checked<gallatin<>>> heap(machine(), std::size_t{1} << 20);
  ASSERT_NE(take_one(heap, 40), nullptr);
  EXPECT_FALSE(heap.incidents().leaks.empty());
  heap.reset();
  EXPECT_TRUE(heap.incidents().leaks.empty());
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
