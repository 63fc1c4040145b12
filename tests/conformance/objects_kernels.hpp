// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The types and the lanes' programs of the suite of objects.

#include "conformance/kernels.hpp"
#include "warpheap/heap/heap.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// An object of `Words` words, all of which follow from the first.
template <int Words>
struct numbered_object {
  std::uint64_t words[Words];

  numbered_object() = default;
  WARPHEAP_HD explicit numbered_object(std::uint64_t number) {
    words[0] = number;
    for (int i = 1; i < Words; ++i) {
      words[i] = pattern_word(number, static_cast<std::uint64_t>(i));
    }
  }
  WARPHEAP_HD std::uint64_t number() const { return words[0]; }
  WARPHEAP_HD bool is_whole() const {
    bool whole = true;
    for (int i = 1; i < Words; ++i) {
      whole &= words[i] == pattern_word(words[0], static_cast<std::uint64_t>(i));
    }
    return whole;
  }
};
using small_object = numbered_object<2>;
using large_object = numbered_object<9>;

template <class M, class T>
struct make_objects {
  handle<M> heap;
  std::uint64_t first;
  std::uint64_t count;
  typename M::template pointer<T>* made;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) made[rank] = heap.template make<T>(first + rank);
  }
};

/// One lane makes objects until there is no room for another one.
template <class M, class T>
struct make_until_full {
  handle<M> heap;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    for (std::uint64_t number = 0; heap.template make<T>(number); ++number) {
      tally::add(found->blocks);
    }
  }
};

template <class M, class T>
struct destroy_objects {
  handle<M> heap;
  std::uint64_t first;
  std::uint64_t count;
  const typename M::template pointer<T>* objects;
  const std::uint64_t* whose;
  tally* found;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= count) return;
    const auto object = objects[whose[rank]];
    if (object) {
      const T value = heap.template load<T>(object);
      if (!value.is_whole() || value.number() != first + whose[rank]) {
        tally::add(found->corrupted);
      }
    }
    heap.template destroy<T>(object);
  }
};

template <class M, class T>
struct destroy_unchecked {
  handle<M> heap;
  std::uint64_t count;
  const typename M::template pointer<T>* objects;

  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank < count) heap.template destroy<T>(objects[rank]);
  }
};

template <class M, class T>
struct count_visits {
  handle<M> heap;
  std::uint64_t first;
  std::uint64_t count;
  std::uint64_t* times;
  tally* found;

  WARPHEAP_DEVICE void operator()(typename M::template pointer<T> object) const {
    const T value = heap.template load<T>(object);
    const std::uint64_t which = value.number() - first;
    if (!value.is_whole() || which >= count) {
      tally::add(found->corrupted);
    } else {
      tally::add(times[which]);
    }
  }
};

/// Each object makes one whose number is higher by `step`, and is destroyed.
template <class M>
struct replace_object {
  handle<M> heap;
  std::uint64_t step;
  tally* found;

  WARPHEAP_DEVICE void operator()(typename M::template pointer<small_object> object) const {
    tally::add(found->blocks);
    const std::uint64_t number = heap.template load<small_object>(object).number();
    if (number >= step) tally::add(found->corrupted);
    if (!heap.template make<small_object>(number + step)) tally::add(found->nulls);
    heap.template destroy<small_object>(object);
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
