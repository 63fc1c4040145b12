// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pointer to memory that is not the heap's is not an index into its tables.
#include "machine.hpp"
#include "manager_names.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"
#include "warpheap/registry.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <class M>
class foreign_pointers : public ::testing::Test {};
TYPED_TEST_SUITE(foreign_pointers, portable_managers::apply<::testing::Types>, manager_names);

/// A manager's region in the middle of memory that nothing may change.
template <class M>
class surrounded {
 public:
  surrounded()
      : around_(3 * bytes, std::byte{0x5a}),
        base_(around_.data() + bytes +
              (4096 - reinterpret_cast<std::uintptr_t>(around_.data()) % 4096)),
        manager_(region{base_, bytes}, machine().properties(), {}) {
    manager_.format(0, 1);
  }

  /// Calls `act(manager, pointer)` in a lane with pointers before and behind the region; whether
  /// nothing has changed.
  template <class Act>
  bool stays_as_it_is(const Act& act) {
    const std::vector<std::byte> before(around_);
    machine().launch({1, 1}, [&] {
      for (std::byte* foreign :
           {base_ - 16, base_ - 4096, base_ - bytes / 2, base_ + bytes, base_ + bytes + 4096,
            base_ + bytes + bytes / 2, reinterpret_cast<std::byte*>(std::uintptr_t{64}),
            reinterpret_cast<std::byte*>(~std::uintptr_t{63})}) {
        act(manager_, foreign);
      }
    });
    return around_ == before;
  }

 private:
  static constexpr std::size_t bytes = std::size_t{4} << 20;

  std::vector<std::byte> around_;
  std::byte* base_;
  M manager_;
};

TYPED_TEST(foreign_pointers, are_ignored) {
  if constexpr (block_manager<TypeParam> && TypeParam::about.frees) {
    surrounded<TypeParam> subject;
    EXPECT_TRUE(subject.stays_as_it_is(
        [](const TypeParam& manager, std::byte* foreign) { manager.free(foreign); }));
  } else {
    GTEST_SKIP() << "frees no single blocks";
  }
}

TYPED_TEST(foreign_pointers, have_no_usable_bytes) {
  if constexpr (measures_blocks<TypeParam>) {
    surrounded<TypeParam> subject;
    EXPECT_TRUE(subject.stays_as_it_is([](const TypeParam& manager, std::byte* foreign) {
      EXPECT_EQ(manager.usable_size(foreign), 0u);
    }));
  } else {
    GTEST_SKIP() << "does not know the sizes of its blocks";
  }
}

TEST(foreign_pointers_of_layers, are_ignored_and_not_counted) {
  using counting = counted<rw_malloc<>>;
  surrounded<counting> subject;
  EXPECT_TRUE(subject.stays_as_it_is([](const counting& manager, std::byte* foreign) {
    manager.free(foreign);
    EXPECT_EQ(manager.counts()->live_blocks, 0u);
  }));
}

struct number {
  std::uint32_t value;
  using fields = field_list<&number::value>;
};

/// Six bits of an object's address are its slot.
TEST(foreign_objects, are_ignored) {
  using objects = dynasoar_objects<type_list<number>>;
  surrounded<objects> subject;
  EXPECT_TRUE(subject.stays_as_it_is([](const objects& manager, std::byte* foreign) {
    auto* const block = foreign - reinterpret_cast<std::uintptr_t>(foreign) % 64;
    manager.destroy(objects::pointer<number>(block, 3));
  }));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
