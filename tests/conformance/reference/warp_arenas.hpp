// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/manager.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Mistakes that the suite of warp heaps must find.
enum class arena_fault {
  none,
  overlapping,      ///< lanes that ask at once get the same block
  frees_too_early,  ///< the first participant that ends a heap frees it
  never_frees,      ///< heaps stay when all have ended them
  tidies_at_once,   ///< the first participant that tidies up does so for all
  shares_heaps,     ///< participants are counted as if the whole warp had come
};

/// The simplest manager of warp heaps: each is an arena of fixed size behind one counter.
///
/// Layout: [ arena words ][ arenas ... ]. Progress: `begin` tries each arena once; `tidy_up` waits
/// for participants that have yet to call it or `end`, and neither waits for anything else.
template <arena_fault Fault = arena_fault::none>
class warp_arenas {
 public:
  using options = no_options;
  static constexpr std::size_t arena_bytes = 16384;
  static constexpr capabilities about{.name = "warp_arenas",
                                      .largest_block = arena_bytes,
                                      .frees = false,
                                      .reuse = memory_reuse::partial};

  struct warp_heap {
    std::uint32_t number = 0;  ///< of the arena, from 1
    WARPHEAP_HD explicit operator bool() const { return number != 0; }
  };

  warp_arenas(const region& memory, const simt::device_properties& /*machine*/,
              const options& /*none*/) {
    region_cursor cursor(memory, about.name);
    const std::size_t fits = cursor.left(16) / (arena_bytes + sizeof(words));
    count_ = fits == 0 ? 1 : static_cast<std::uint32_t>(fits);
    words_ = cursor.take<words>(count_);
    arenas_ = cursor.take<std::byte>(count_ * arena_bytes, 16);
  }

  WARPHEAP_HD std::size_t largest_block() const { return arena_bytes; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) words_[i] = words{};
  }

  WARPHEAP_DEVICE warp_heap begin(const simt::group& lanes) const {
    std::uint32_t number = 0;
    for (std::uint32_t i = 0; lanes.is_leader() && number == 0 && i < count_; ++i) {
      // Acquire pairs with the release in `leave`.
      if (simt::atomic_ref(words_[i].taken).exchange(1, simt::order::acquire) != 0) continue;
      words_[i].phase = static_cast<std::uint64_t>(
                            Fault == arena_fault::shares_heaps ? simt::warp_size : lanes.size())
                        << 16;
      words_[i].used = 0;
      number = i + 1;
    }
    lanes.sync();
    return {lanes.broadcast(number)};
  }

  WARPHEAP_DEVICE void* malloc(warp_heap of, std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const simt::atomic_ref used(words_[of.number - 1].used);
    const auto need = static_cast<std::uint32_t>(round_up<std::size_t>(bytes, 16));
    if (used.load(simt::order::relaxed) + need > arena_bytes) return nullptr;  // keeps it small
    const std::uint32_t start = Fault == arena_fault::overlapping
                                    ? add_slowly(used, need)
                                    : used.fetch_add(need, simt::order::relaxed);
    if (start + need > arena_bytes) return nullptr;
    return arenas_ + (of.number - 1) * arena_bytes + start;
  }

  WARPHEAP_DEVICE void tidy_up(warp_heap of) const {
    const simt::atomic_ref phase(words_[of.number - 1].phase);
    const std::uint64_t now = phase.fetch_add(1, simt::order::acq_rel) + 1;
    if (settle(of, now) || Fault == arena_fault::tidies_at_once) {
      if (Fault == arena_fault::tidies_at_once) words_[of.number - 1].used = 0;
      return;
    }
    while (phase.load(simt::order::acquire) >> 32 == now >> 32) simt::backoff(50);
  }

  WARPHEAP_DEVICE void end(warp_heap of) const {
    const simt::atomic_ref phase(words_[of.number - 1].phase);
    settle(of, phase.fetch_sub(one_participant, simt::order::acq_rel) - one_participant);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    for (std::uint64_t i = rank; i < count_; i += count) {
      findings.in_use(words_[i].taken, words_[i].taken * arena_bytes);
    }
  }

 private:
  static constexpr std::uint64_t one_participant = 1 << 16;

  struct words {
    std::uint32_t taken = 0;
    std::uint32_t used = 0;
    /// { generation: 32 | participants: 16 | of which have tidied up: 16 }
    std::uint64_t phase = 0;
  };

  WARPHEAP_DEVICE static std::uint32_t add_slowly(const simt::atomic_ref<std::uint32_t>& word,
                                                  std::uint32_t amount) {
    const std::uint32_t before = word.load(simt::order::relaxed);
    simt::backoff(50);
    word.store(before + amount, simt::order::relaxed);
    return before;
  }

  /// True if the caller was the one that all waited for.
  WARPHEAP_DEVICE bool settle(warp_heap of, std::uint64_t phase) const {
    words& mine = words_[of.number - 1];
    const std::uint64_t participants = phase >> 16 & 0xffff;
    if (participants == 0 || Fault == arena_fault::frees_too_early) {
      if (Fault == arena_fault::never_frees) return true;
      simt::atomic_ref(mine.taken).store(0, simt::order::release);
      return true;
    }
    if ((phase & 0xffff) != participants) return false;
    simt::atomic_ref(mine.used).store(0, simt::order::relaxed);
    simt::atomic_ref(mine.phase)
        .store(((phase >> 32) + 1) << 32 | participants << 16, simt::order::release);
    return true;
  }

  words* words_;
  std::byte* arenas_;
  std::uint32_t count_;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
