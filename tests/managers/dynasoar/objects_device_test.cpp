// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects with fields, on both models: blocks go from type to type, and every slot is found again.
#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/dynasoar/objects.hpp"

#include "device_array.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

struct light {
  std::uint32_t number;
  std::uint64_t square;
  using fields = field_list<&light::number, &light::square>;
};

/// Four fields, of which one is an array.
struct heavy {
  std::uint64_t number;
  double half;
  std::uint32_t counts[3];
  std::uint8_t kind;
  using fields = field_list<&heavy::number, &heavy::half, &heavy::counts, &heavy::kind>;
};

using menagerie = dynasoar_objects<type_list<light, heavy>>;

constexpr std::size_t heap_bytes = sanitized ? std::size_t{1} << 16 : std::size_t{1} << 20;

struct make_lights {
  handle<menagerie> heap;
  std::uint64_t* nulls;
  WARPHEAP_DEVICE void operator()() const {
    const auto number = static_cast<std::uint32_t>(simt::thread_rank());
    if (!heap.make<light>(light{number, std::uint64_t{number} * number})) {
      simt::atomic_ref(*nulls).fetch_add(1, simt::order::relaxed);
    }
  }
};

struct make_heavies {
  handle<menagerie> heap;
  std::uint64_t* nulls;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t number = simt::thread_rank();
    const auto made =
        heap.make<heavy>(heavy{number, static_cast<double>(number) / 2, {1, 2, 3}, 7});
    if (!made) simt::atomic_ref(*nulls).fetch_add(1, simt::order::relaxed);
  }
};

/// What the visits have seen.
struct census {
  std::uint64_t objects = 0;
  std::uint64_t wrong = 0;
};

struct check_lights {
  handle<menagerie> heap;
  census* seen;
  bool destroys;
  WARPHEAP_DEVICE void operator()(menagerie::pointer<light> object) const {
    simt::atomic_ref(seen->objects).fetch_add(1, simt::order::relaxed);
    const std::uint64_t number = object.get<&light::number>();
    if (object.get<&light::square>() != number * number) {
      simt::atomic_ref(seen->wrong).fetch_add(1, simt::order::relaxed);
    }
    if (destroys) heap.destroy<light>(object);
  }
};

struct check_heavies {
  handle<menagerie> heap;
  census* seen;
  WARPHEAP_DEVICE void operator()(menagerie::pointer<heavy> object) const {
    simt::atomic_ref(seen->objects).fetch_add(1, simt::order::relaxed);
    const auto& counts = object.get<&heavy::counts>();
    const bool whole =
        object.get<&heavy::half>() * 2 == static_cast<double>(object.get<&heavy::number>()) &&
        counts[0] == 1 && counts[1] == 2 && counts[2] == 3 && object.get<&heavy::kind>() == 7;
    if (!whole) simt::atomic_ref(seen->wrong).fetch_add(1, simt::order::relaxed);
    heap.destroy<heavy>(object);
  }
};

namespace {

template <class Make>
std::uint64_t made_of(const heap<menagerie>& in, std::uint64_t lanes) {
  const device_array<std::uint64_t> nulls(1);
  const simt::grid shape = covering(lanes);
  machine().launch(shape, Make{in.ref(), nulls.get()});
  return std::uint64_t{shape.blocks} * shape.threads_per_block - nulls.read()[0];
}

void expect_in_use(const heap<menagerie>& of, std::uint64_t objects) {
  EXPECT_TRUE(of.validate().ok()) << of.validate().describe();
  EXPECT_EQ(of.stats().blocks_in_use, objects);
}

TEST(dynasoar_objects_on_device, a_heap_that_was_moved_from_has_none_to_visit) {
  heap<menagerie> gone(machine(), heap_bytes);
  const heap<menagerie> owner = std::move(gone);
  const device_array<census> seen(1);
  const check_heavies visit{owner.ref(), seen.get()};
  EXPECT_THROW(gone.parallel_do<heavy>(visit), invalid_argument);
}

TEST(dynasoar_objects_on_device, blocks_go_from_type_to_type_and_back) {
  const heap<menagerie> subject(machine(), heap_bytes);
  const std::uint64_t most = heap_bytes / sizeof(std::uint64_t);
  std::uint64_t lights = 0;
  std::uint64_t heavies = 0;
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t made = made_of<make_lights>(subject, most);
    EXPECT_EQ(made % menagerie::slots_of<light>, 0u) << "a block was not used to the end";
    expect_in_use(subject, made);
    const device_array<census> seen(1);
    subject.parallel_do<light>(check_lights{subject.ref(), seen.get(), false});
    subject.parallel_do<heavy>(check_heavies{subject.ref(), seen.get()});
    subject.parallel_do<light>(check_lights{subject.ref(), seen.get(), true});
    EXPECT_EQ(seen.read()[0].objects, 2 * made);
    EXPECT_EQ(seen.read()[0].wrong, 0u);
    expect_in_use(subject, 0);

    const std::uint64_t others = made_of<make_heavies>(subject, most);
    EXPECT_EQ(others * menagerie::slots_of<light>, made * menagerie::slots_of<heavy>)
        << "blocks were lost when they changed their type";
    const device_array<census> checked(1);
    subject.parallel_do<heavy>(check_heavies{subject.ref(), checked.get()});
    EXPECT_EQ(checked.read()[0].objects, others);
    EXPECT_EQ(checked.read()[0].wrong, 0u);
    expect_in_use(subject, 0);

    if (round == 0) lights = made, heavies = others;
    EXPECT_EQ(made, lights);
    EXPECT_EQ(others, heavies);
  }
}

TEST(dynasoar_objects_on_device, a_type_takes_what_the_other_one_has_left) {
  const heap<menagerie> subject(machine(), heap_bytes);
  const std::uint64_t most = heap_bytes / sizeof(std::uint64_t);
  const std::uint64_t few = made_of<make_heavies>(subject, 64);
  const std::uint64_t rest = made_of<make_lights>(subject, most);
  EXPECT_GT(rest, 0u);
  // The started block of the heavy ones has room for more of them, and for nothing else.
  const std::uint64_t blocks = (few + menagerie::slots_of<heavy> - 1) / menagerie::slots_of<heavy>;
  expect_in_use(subject, few + rest);
  EXPECT_EQ(made_of<make_lights>(subject, 1), 0u);
  EXPECT_GE(few + made_of<make_heavies>(subject, most), blocks * menagerie::slots_of<heavy>);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
