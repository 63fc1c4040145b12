// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "surrounded.hpp"

#include "warpheap/core/type_list.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

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
