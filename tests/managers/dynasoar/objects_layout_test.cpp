// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where fields, slots and types lie.
#include "rubbish.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/managers/dynasoar/dynasoar.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

template <int Bytes>
struct animal {
  std::uint32_t words[Bytes / 4];
};

struct mixed {
  std::uint8_t flag;
  double weight;
  std::uint16_t pair[3];
  std::uint32_t age;
  using fields = field_list<&mixed::flag, &mixed::weight, &mixed::pair, &mixed::age>;
};

TEST(dynasoar_objects, blocks_have_the_size_of_64_of_the_smallest_type) {
  // The paper's fish and sharks.
  using fish = animal<60>;
  using shark = animal<64>;
  using manager = dynasoar_objects<type_list<fish, shark>>;
  EXPECT_EQ(manager::shape::block_bytes, 3840u);
  EXPECT_EQ(manager::slots_of<fish>, 64);
  EXPECT_EQ(manager::slots_of<shark>, 60);
  EXPECT_EQ(manager::shape::slots(0), 64);
  EXPECT_EQ(manager::shape::slots(1), 60);
  EXPECT_EQ(manager::shape::slot_bytes(1), 64u);

  using extremes = dynasoar_objects<type_list<animal<256>, animal<4>>>;
  EXPECT_EQ(extremes::shape::block_bytes, 256u);
  EXPECT_EQ(extremes::slots_of<animal<256>>, 1);
}

TEST(dynasoar_objects, arrays_begin_at_multiples_of_their_alignment) {
  using layout = soa_layout<mixed>;
  // 3 bytes, then at 8 three doubles, at 32 nine 16-bit numbers, at 52 three 32-bit numbers.
  EXPECT_EQ(layout::bytes(3), 64u);
  alignas(64) std::byte block[64];
  for (int slot = 0; slot < 3; ++slot) {
    const auto at = [&](const void* field) { return static_cast<const std::byte*>(field) - block; };
    EXPECT_EQ(at(&layout::field<&mixed::flag>(block, 3, slot)), slot);
    EXPECT_EQ(at(&layout::field<&mixed::weight>(block, 3, slot)), 8 + 8 * slot);
    EXPECT_EQ(at(&layout::field<&mixed::pair>(block, 3, slot)), 32 + 6 * slot);
    EXPECT_EQ(at(&layout::field<&mixed::age>(block, 3, slot)), 52 + 4 * slot);
  }
}

TEST(dynasoar_objects, objects_keep_all_of_their_fields) {
  using layout = soa_layout<mixed>;
  alignas(64) std::byte block[64];
  std::memset(block, 0xcd, sizeof block);
  for (std::uint8_t i = 0; i < 3; ++i) {
    const auto word = std::uint16_t{i};
    layout::store(block, 3, i,
                  {i, i + 0.5, {word, 7, static_cast<std::uint16_t>(~word)}, 100u + i});
  }
  for (std::uint8_t i = 0; i < 3; ++i) {
    const mixed got = layout::load(block, 3, i);
    EXPECT_EQ(got.flag, i);
    EXPECT_EQ(got.weight, i + 0.5);
    EXPECT_EQ(got.pair[0], i);
    EXPECT_EQ(got.pair[1], 7);
    EXPECT_EQ(got.pair[2], static_cast<std::uint16_t>(~i));
    EXPECT_EQ(got.age, 100u + i);
  }
}

TEST(dynasoar_objects, pointers_hold_block_and_slot) {
  using pointer = dynasoar_objects<type_list<mixed>>::pointer<mixed>;
  EXPECT_FALSE(pointer());
  EXPECT_EQ(sizeof(pointer), 8u);
  alignas(64) static std::byte blocks[2][64 * sizeof(mixed)];
  for (std::byte* block : {blocks[0], blocks[1]}) {
    for (const std::uint32_t slot : {0u, 1u, 63u}) {
      const pointer object(block, slot);
      EXPECT_TRUE(object);
      EXPECT_EQ(object.block(), block);
      EXPECT_EQ(object.slot(), slot);
      object.get<&mixed::age>() = slot;
      EXPECT_EQ(object.load().age, slot);
    }
  }
}

TEST(dynasoar, sizes_are_rounded_up_to_the_next_type) {
  using shape = dynasoar<>::shape;
  EXPECT_EQ(shape::types, 7u);
  EXPECT_EQ(shape::block_bytes, 1024u);
  for (std::size_t bytes = 1; bytes <= shape::block_bytes; ++bytes) {
    const std::uint32_t type = shape::type_for(bytes);
    ASSERT_LT(type, shape::types);
    ASSERT_GE(shape::slot_bytes(type), bytes);
    ASSERT_TRUE(type == 0 || shape::slot_bytes(type - 1) < bytes) << bytes;
    ASSERT_EQ(shape::slot_bytes(type) * static_cast<std::size_t>(shape::slots(type)),
              shape::block_bytes);
  }
}

TEST(dynasoar, a_slot_a_block_is_the_least) {
  using shape = dynasoar<dynasoar_config{.smallest_bytes = 64, .slots = 1}>::shape;
  EXPECT_EQ(shape::types, 1u);
  EXPECT_EQ(shape::type_for(1), 0u);
  EXPECT_EQ(shape::type_for(64), 0u);
}

TEST(dynasoar_table, format_does_not_touch_blocks) {
  // So many that the blocks follow their types without a gap.
  constexpr std::uint32_t count = 32;
  using table_type = dynasoar_table<dynasoar<>::shape>;
  rubbish memory(128_KiB);
  region_cursor cursor = memory.cursor();
  const table_type table(cursor, count);
  table.format(0, 1);
  EXPECT_TRUE(memory.is_untouched_from(table.address(0)));
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
