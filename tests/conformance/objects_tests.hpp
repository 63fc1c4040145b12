// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "conformance/block_fixture.hpp"
#include "conformance/objects_kernels.hpp"

#include <cstdint>
#include <memory>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// For managers whose types are `small_object` and `large_object`.
template <class M>
class object_fixture : public ::testing::Test {
 public:
  using heap_type = heap<M>;
  template <class T>
  using pointers = std::vector<typename M::template pointer<T>>;
  static constexpr std::uint64_t threads = race_checked ? 512 : 4096;

  static std::shared_ptr<heap_type> make_heap(std::size_t bytes = std::size_t{16} << 20) {
    return std::make_shared<heap_type>(machine(), bytes);
  }

  /// Lane i makes an object that holds the numbers from `first + i` on.
  template <class T>
  static pointers<T> make(const heap_type& in, std::uint64_t count, std::uint64_t first = 0) {
    const device_array<typename M::template pointer<T>> made(count);
    machine().launch(covering(count), make_objects<M, T>{in.ref(), first, count, made.get()});
    return made.read();
  }

  /// Lane i checks and destroys the object number `whose[i]`.
  template <class T>
  static void destroy(const heap_type& in, const pointers<T>& objects, std::uint64_t first = 0) {
    const device_array<typename M::template pointer<T>> all(objects);
    const device_array<std::uint64_t> whose(shuffled(objects.size(), 1));
    const device_array<tally> found(1);
    machine().launch(covering(objects.size()),
                     destroy_objects<M, T>{in.ref(), first, objects.size(), all.get(), whose.get(),
                                           found.get()});
    EXPECT_EQ(found.read()[0].corrupted, 0u) << "objects lost their contents";
  }

  /// How often each of the objects that hold `first`, `first + 1`, ... is visited.
  template <class T>
  static std::vector<std::uint64_t> visits(const heap_type& in, std::uint64_t count,
                                           std::uint64_t first = 0) {
    const device_array<std::uint64_t> times(count);
    const device_array<tally> found(1);
    in.template parallel_do<T>(
        count_visits<M, T>{in.ref(), first, count, times.get(), found.get()});
    EXPECT_EQ(found.read()[0].corrupted, 0u) << "what was visited is not one of the objects";
    return times.read();
  }

  template <class T>
  static std::uint64_t nulls(const pointers<T>& objects) {
    std::uint64_t count = 0;
    for (const auto& object : objects) count += !object;
    return count;
  }

  static void expect_in_use(const heap_type& of, std::uint64_t objects) {
    const validation result = of.validate();
    EXPECT_TRUE(result.ok()) << result.describe();
    EXPECT_EQ(of.stats().blocks_in_use, objects);
  }
};

/// The suite of objects.
struct objects {
  template <class M>
  static constexpr bool models = object_manager<M>;
  template <class M>
  using fixture = object_fixture<M>;
};

CONFORMANCE_TEST(objects, objects_of_all_types_keep_their_contents) {
  const auto heap = this->make_heap();
  const auto small = this->template make<small_object>(*heap, this->threads);
  const auto large = this->template make<large_object>(*heap, this->threads, 1u << 20);
  EXPECT_EQ(this->template nulls<small_object>(small), 0u);
  EXPECT_EQ(this->template nulls<large_object>(large), 0u);
  this->expect_in_use(*heap, 2 * this->threads);
  this->template destroy<small_object>(*heap, small);
  this->expect_in_use(*heap, this->threads);
  this->template destroy<large_object>(*heap, large, 1u << 20);
  this->expect_in_use(*heap, 0);
  EXPECT_EQ(heap->stats().failures, 0u);
}

CONFORMANCE_TEST(objects, each_live_object_is_visited_once) {
  const auto heap = this->make_heap();
  const auto small = this->template make<small_object>(*heap, this->threads);
  this->template make<large_object>(*heap, 100, 1u << 20);
  typename std::decay_t<decltype(*this)>::template pointers<small_object> gone;
  for (std::size_t i = 0; i < small.size(); i += 3) gone.push_back(small[i]);
  const device_array<typename TypeParam::template pointer<small_object>> all(gone);
  machine().launch(covering(gone.size()),
                   destroy_unchecked<TypeParam, small_object>{heap->ref(), gone.size(), all.get()});
  const auto times = this->template visits<small_object>(*heap, this->threads);
  for (std::size_t i = 0; i < times.size(); ++i) {
    ASSERT_EQ(times[i], i % 3 == 0 ? 0u : 1u) << "object " << i;
  }
  const auto others = this->template visits<large_object>(*heap, 100, 1u << 20);
  EXPECT_EQ(others, std::vector<std::uint64_t>(100, 1));
}

CONFORMANCE_TEST(objects, a_visit_may_make_objects_and_destroy_its_own) {
  const auto heap = this->make_heap();
  this->template make<small_object>(*heap, this->threads);
  const device_array<tally> found(1);
  heap->template parallel_do<small_object>(
      replace_object<TypeParam>{heap->ref(), this->threads, found.get()});
  const tally seen = found.read()[0];
  EXPECT_EQ(seen.corrupted, 0u) << "an object that the visits made was visited, too";
  EXPECT_EQ(seen.nulls, 0u);
  EXPECT_EQ(seen.blocks, this->threads);
  this->expect_in_use(*heap, this->threads);
  EXPECT_EQ(this->template visits<small_object>(*heap, this->threads, this->threads),
            std::vector<std::uint64_t>(this->threads, 1));
}

CONFORMANCE_TEST(objects, a_full_heap_says_so_and_is_whole_again_once_it_is_emptied) {
  const auto heap = this->make_heap(std::size_t{1} << (race_checked ? 18 : 20));
  const std::uint64_t room = heap->bytes() / sizeof(large_object) + 1;
  std::uint64_t first = 0;
  for (int round = 0; round < 2; ++round) {
    const std::uint64_t before = heap->stats().failures;
    auto all = this->template make<large_object>(*heap, room);
    const std::uint64_t nulls = this->template nulls<large_object>(all);
    EXPECT_GT(nulls, 0u);
    EXPECT_EQ(heap->stats().failures, before + nulls);
    EXPECT_EQ(heap->stats().last_failed_bytes, sizeof(large_object));
    // Lanes may give up while others are in the middle of something; a lane alone may not.
    std::vector<decltype(all)> late;
    do {
      late.push_back(this->template make<large_object>(*heap, 1, room + late.size()));
    } while (late.back()[0] && late.size() <= nulls);
    const std::uint64_t held = room - nulls + late.size() - 1;
    if (round == 0) first = held;
    EXPECT_EQ(held, first) << "objects were lost";
    this->expect_in_use(*heap, held);
    this->template destroy<large_object>(*heap, all);
    for (std::size_t i = 0; i < late.size(); ++i) {
      this->template destroy<large_object>(*heap, late[i], room + i);
    }
    this->expect_in_use(*heap, 0);
  }
}

}  // namespace test
WARPHEAP_END_NAMESPACE
