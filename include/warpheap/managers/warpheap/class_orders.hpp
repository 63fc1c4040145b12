// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// The order in which the manager `warpheap` hands out the slots of a large class's chunks, and how
/// many chunks are on their way to a class. ordered_words.hpp uses it.
///
/// Chunks have numbers, in the order in which they came to their class. Those from a first one on
/// are dealt to a few places in turn; a place counts the slots that it has handed out of its
/// chunks, one chunk after the other. A single counter would serve one lane after the other.
///
/// All of it is relaxed, and may be out of date: who is handed slots that others have taken looks
/// elsewhere, and a class that gets a chunk too many uses it later. What is certain is in the
/// words.
class warpheap_class_orders {
 public:
  struct alignas(128) place {
    std::uint64_t
        handed;  ///< below 0 for a moment, if lanes give back what was corrected meanwhile
  };
  struct alignas(128) growth {
    std::uint32_t coming;  ///< chunks that lanes are about to add
    std::uint32_t wanted;  ///< how many the class is to have, once lanes have begun to add them
  };

  static constexpr std::uint32_t most_places = 8;
  /// The share of the region that a class has without an order: a 32nd; an eighth, if its chunks
  /// have few slots.
  static constexpr std::uint32_t usual_share = 32;
  static constexpr std::uint32_t share_of_few = 8;

  /// How many places each class has in a heap of that many chunks: none in small ones, whose
  /// classes keep no order.
  WARPHEAP_HD static constexpr std::uint32_t places_for(std::uint32_t universe,
                                                        std::uint32_t chunks_per_place) {
    const std::uint32_t wanted = universe / chunks_per_place;
    return wanted < most_places ? wanted : most_places;
  }

  warpheap_class_orders() = default;
  WARPHEAP_HD warpheap_class_orders(place* places, growth* growths, std::uint32_t classes,
                                    std::uint32_t universe, std::uint32_t each,
                                    std::uint32_t few_slots)
      : places_(places),
        growths_(growths),
        classes_(classes),
        universe_(universe),
        each_(each),
        few_slots_(few_slots) {}

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (!any()) return;
    for (std::uint64_t i = rank; i < std::uint64_t{classes_} * each_; i += count) {
      places_[i].handed = 0;
    }
    for (std::uint64_t of = rank; of < classes_; of += count) growths_[of] = {0, 0};
  }

  WARPHEAP_HD bool any() const { return each_ != 0; }
  /// The first chunk of an order, for slots `of_chunk`.
  WARPHEAP_HD std::uint32_t first(std::uint32_t of_chunk) const {
    return universe_ / (of_chunk < few_slots_ ? share_of_few : usual_share);
  }
  WARPHEAP_HD std::uint32_t places() const { return each_; }

  /// Where the slots begin that a lane was handed.
  struct start {
    std::uint32_t chunk;  ///< its number in the class; may be beyond those that it has
    std::uint32_t slot;
    bool is_checked;  ///< whether the lane is one of those that see to it that there are enough
  };
  /// The next `slots` slots of a place. \param of_chunk slots of a chunk \param check_every how
  /// many slots to each lane that is to look at the number of chunks
  WARPHEAP_DEVICE start hand_out(std::uint32_t of, std::uint32_t at, std::uint32_t slots,
                                 std::uint32_t of_chunk, std::uint32_t check_every) const {
    const std::uint64_t all = handed(of, at).fetch_add(slots, simt::order::relaxed);
    // More than any class has on a GPU, or a count that was corrected: that comes right as lanes
    // add to it. And a division of 64 bits takes 20 registers.
    if (all >> 32 != 0) return {universe_, 0, false};
    const auto begin = static_cast<std::uint32_t>(all);
    const std::uint32_t chunk = begin / of_chunk;
    if (chunk >= universe_) return {universe_, 0, false};
    return {first(of_chunk) + chunk * each_ + at, begin - chunk * of_chunk,
            begin / check_every != (begin + slots) / check_every};
  }
  /// A place goes on with its chunks from that number on, unless it is there already.
  WARPHEAP_DEVICE void go_on(std::uint32_t of, std::uint32_t at, std::uint32_t number,
                             std::uint32_t of_chunk) const {
    if (number <= first(of_chunk)) return;
    const std::uint64_t passed = std::uint64_t{(number - first(of_chunk)) / each_} * of_chunk;
    const auto handed_out = handed(of, at);
    std::uint64_t now = handed_out.load(simt::order::relaxed);
    // Once: others that find the same go on as far, or farther.
    if (now < passed) handed_out.compare_exchange(now, passed, simt::order::relaxed);
  }
  /// Nothing of what was handed out last was used.
  WARPHEAP_DEVICE void give_back(std::uint32_t of, std::uint32_t at, std::uint32_t slots) const {
    handed(of, at).fetch_sub(slots, simt::order::relaxed);
  }
  /// A class has lost a chunk and has `left`: its chunks of one place are fewer.
  WARPHEAP_DEVICE void shrink(std::uint32_t of, std::uint32_t left, std::uint32_t of_chunk) const {
    if (!any()) return;
    const simt::atomic_ref wanted(growths_[of].wanted);
    if (wanted.load(simt::order::relaxed) > left) wanted.store(left, simt::order::relaxed);
    if (left < first(of_chunk)) return;
    const std::uint32_t ordered = left - first(of_chunk);
    const std::uint64_t most = std::uint64_t{ordered / each_} * of_chunk;
    const auto handed_out = handed(of, ordered % each_);
    std::uint64_t now = handed_out.load(simt::order::relaxed);
    // Once: the next chunk that leaves corrects what others have changed meanwhile.
    if (now > most) handed_out.compare_exchange(now, most, simt::order::relaxed);
  }

  WARPHEAP_DEVICE std::uint32_t coming(std::uint32_t of) const {
    return any() ? simt::atomic_ref(growths_[of].coming).load(simt::order::relaxed) : 0;
  }
  /// Announces chunks that the caller is about to add; returns how many others are about to.
  WARPHEAP_DEVICE std::uint32_t announce(std::uint32_t of, std::uint32_t chunks) const {
    if (!any()) return 0;
    return simt::atomic_ref(growths_[of].coming).fetch_add(chunks, simt::order::relaxed);
  }
  /// They have come, or there were none.
  WARPHEAP_DEVICE void arrived(std::uint32_t of, std::uint32_t chunks) const {
    if (any()) simt::atomic_ref(growths_[of].coming).fetch_sub(chunks, simt::order::relaxed);
  }
  WARPHEAP_DEVICE std::uint32_t wanted(std::uint32_t of) const {
    return simt::atomic_ref(growths_[of].wanted).load(simt::order::relaxed);
  }
  /// The class is to have that many chunks.
  WARPHEAP_DEVICE void want(std::uint32_t of, std::uint32_t chunks) const {
    if (wanted(of) >= chunks) return;
    simt::atomic_ref(growths_[of].wanted).fetch_max(chunks, simt::order::relaxed);
  }

 private:
  WARPHEAP_DEVICE simt::atomic_ref<std::uint64_t> handed(std::uint32_t of, std::uint32_t at) const {
    return simt::atomic_ref(places_[std::size_t{of} * each_ + at].handed);
  }

  place* places_ = nullptr;
  growth* growths_ = nullptr;
  std::uint32_t classes_ = 0;
  std::uint32_t universe_ = 1;
  std::uint32_t each_ = 0;
  std::uint32_t few_slots_ = 0;
};

WARPHEAP_END_NAMESPACE
