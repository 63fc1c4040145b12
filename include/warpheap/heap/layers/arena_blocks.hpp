// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The device half of `arena` (heap/arena.hpp): blocks out of large pieces of a heap, by an atomic
/// addition for all lanes that call together, and all of them given back at once.
///
/// Each multiprocessor has a shard with a current piece. When a request does not fit there, one
/// lane gets the next piece: one that `rewind` has kept, else a block of the heap twice as large as
/// the last one, else one of the smallest size. Requests larger than the smallest piece, and all
/// that come when the heap has no piece, get a block of the heap for themselves. pieces.hpp draws
/// this.
///
/// Invariants, while no lane allocates, beside those of the manager behind:
/// I32 no shard grows, and no piece has more granules in use than it has (place: the shard)
///
/// Progress: an addition never waits. A lane waits for another one in two cases: it gets the next
/// piece, in which it waits for nothing but the heap; or it has added more than fits, and takes
/// that back by its next atomic. Both go on whichever lanes of a warp run, also if the one that
/// waits is of the same warp. A request goes round again only if others have filled a piece
/// meanwhile.
///
/// Null: at moments of the call the heap had no block for the request alone, and no shard had a
/// piece with room for it.
///
/// Orders: a piece belongs to the lane that got it from the heap, which releases it by the store to
/// `used`. Whoever takes from it acquires it by a read-modify-write of the same word.

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/layers/arena/pieces.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/sync/bump_counter.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// What an arena has of its heap. Bytes, headers and rounding included.
struct arena_stats {
  std::uint64_t pieces = 0;
  std::uint64_t piece_bytes = 0;
  /// Requests that have a block of the heap for themselves.
  std::uint64_t singles = 0;
  std::uint64_t single_bytes = 0;
  /// Of these, what requests have, each a multiple of 16 bytes.
  std::uint64_t handed_out_bytes = 0;
  /// The ends of pieces that were too short for a request, which got the next piece.
  std::uint64_t remains_bytes = 0;
  /// What requests can still get without another piece: the rest of current pieces, and those kept.
  std::uint64_t unused_bytes = 0;

  std::uint64_t held_bytes() const { return piece_bytes + single_bytes; }
  /// The share of what it has that no request has; 0 if it has nothing.
  double waste() const {
    if (held_bytes() == 0) return 0;
    return 1 - static_cast<double>(handed_out_bytes) / static_cast<double>(held_bytes());
  }
};

/// A manager over the manager of blocks M whose frees do nothing: see `arena`, which lays it over a
/// heap that others use as well. As a layer, `heap<arena_blocks<M>>`, it has the heap for itself.
template <block_manager M>
class arena_blocks {
  static_assert(M::about.frees, "an arena gives its pieces back: M must free single blocks");
  static_assert(!hears_failures<M>, "on_failure must be the outermost layer");
  using piece = arena_parts::piece;
  using single = arena_parts::single;
  using piece_word = arena_parts::piece_word;
  using shard = arena_parts::shard;

 public:
  struct options {
    /// See `arena_options`.
    std::size_t piece_bytes = 0;
    typename M::options manager{};
  };

  static constexpr capabilities about = [] {
    capabilities inner = M::about;
    inner.name = "arena";
    inner.description = "pieces of a heap, an atomic for the lanes that call together";
    if (inner.largest_block != 0) inner.largest_block -= sizeof(single);
    inner.alignment = arena_parts::granule;
    inner.frees = false;
    inner.reuse = memory_reuse::none;
    return inner;
  }();

  static constexpr std::size_t usual_piece_bytes = std::size_t{64} << 10;
  static constexpr std::size_t least_piece_bytes = 2 * sizeof(piece);
  static constexpr std::size_t most_piece_bytes = std::size_t{1} << 30;

  /// Layout: [ state ][ the manager's region ]
  arena_blocks(const region& memory, const simt::device_properties& machine,
               const options& settings)
      : arena_blocks(cut(memory, shards_for(memory.bytes, machine, settings.piece_bytes)),
                     memory.bytes, machine, settings) {}

  /// Over a manager that is there.
  /// \param inner lives in a heap of `heap_bytes`
  /// \param state memory of `state_bytes(shards)`, aligned to 256
  /// \throws invalid_argument if pieces cannot have `piece_bytes`
  arena_blocks(const M& inner, std::size_t heap_bytes, std::byte* state, std::uint32_t shards,
               std::size_t piece_bytes)
      : inner_(inner),
        copy_(reinterpret_cast<arena_blocks*>(state)),
        shards_(reinterpret_cast<shard*>(state + copy_bytes())),
        count_(shards),
        piece_bytes_(checked_piece(inner, piece_bytes)),
        largest_(round_down(inner.largest_block(), granule) - sizeof(single)),
        most_order_(order_for(inner, heap_bytes)) {}

  /// A shard for each multiprocessor, but no more than have a piece each in an eighth of the heap.
  static std::uint32_t shards_for(std::size_t heap_bytes, const simt::device_properties& machine,
                                  std::size_t piece_bytes) {
    const std::size_t each = piece_bytes == 0 ? usual_piece_bytes : piece_bytes;
    const std::size_t most = heap_bytes / 8 / each;
    if (most == 0) return 1;
    return most < machine.multiprocessors ? static_cast<std::uint32_t>(most)
                                          : machine.multiprocessors;
  }
  static std::size_t state_bytes(std::uint32_t shards) {
    return copy_bytes() + shards * sizeof(shard);
  }

  WARPHEAP_HD std::size_t largest_block() const { return largest_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    inner_.format(rank, count);
    begin(rank, count);
  }

  /// The arena has nothing. For each lane of a grid of `count` lanes, before anything else.
  WARPHEAP_DEVICE void begin(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) shards_[i] = {};
    if (rank == 0) *copy_ = *this;
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const std::uint64_t granules = ceil_div<std::uint64_t>(bytes, granule);
    if (granules > granules_of(0)) return simt::call_apart(&take_single, *copy_, granules);
    const auto wanted = static_cast<std::uint32_t>(granules);
    for (;;) {
      // A warp is on one multiprocessor, so lanes that call together have one shard.
      const simt::group team = simt::coalesced();
      const std::uint32_t at = team.broadcast(simt::sm_id()) % count_;
      void* block = take(team, at, wanted);
      if (block != nullptr) return block;
      const simt::group left = simt::coalesced();
      growth grown;
      if (left.is_leader()) grown = simt::call_apart(&grow, *copy_, at, wanted);
      left.sync();  // what the leader has acquired is the members' as well
      const bool failed = left.any(grown.failed);
      if (grown.block != nullptr) return grown.block;
      if (failed) return simt::call_apart(&take_last, *copy_, at, wanted);
    }
  }

  WARPHEAP_DEVICE void* aligned_malloc(std::size_t alignment, std::size_t bytes) const {
    if (alignment <= granule) return malloc(bytes);
    const std::size_t skipped = alignment - granule;
    if (skipped > largest_ || bytes > largest_ - skipped) return nullptr;
    const auto start = reinterpret_cast<std::uintptr_t>(malloc(bytes + skipped));
    return reinterpret_cast<void*>(align_up<std::uintptr_t>(start, alignment));
  }

  WARPHEAP_DEVICE void free(void* /*block*/) const {}

  /// Gives everything back to the heap. Called by each lane of a grid, or of another set of `count`
  /// lanes with ranks from 0 on, while no lane uses the arena: what the calling lanes and others
  /// did there must be ordered before, and what they do there later behind. O(pieces and blocks of
  /// their own / count)
  WARPHEAP_DEVICE void release(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) {
      free_all(shards_[i].first);
      shards_[i].current = 0;
    }
    free_singles(rank, count);
  }

  /// As `release`, but keeps the pieces, to be handed out again.
  WARPHEAP_DEVICE void rewind(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < count_; i += count) shards_[i].current = 0;
    free_singles(rank, count);
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    inner_.inspect(rank, count, findings);
    for (std::uint64_t i = rank; i < count_; i += count) {
      findings.expect(!shard::is_growing(shards_[i].growths), inspection::most_invariants, i);
      for_each_piece(shards_[i], [&](piece& one, bool) {
        findings.expect(one.used <= granules_of(static_cast<int>(one.order)),
                        inspection::most_invariants, i);
      });
    }
  }

  /// Adds what there is to `sum`. For each lane of a grid of `count` lanes, while no lane
  /// allocates.
  WARPHEAP_DEVICE void measure(std::uint64_t rank, std::uint64_t count, arena_stats& sum) const {
    const auto add = [](std::uint64_t& to, std::uint64_t value) {
      simt::atomic_ref(to).fetch_add(value, simt::order::relaxed);
    };
    for (std::uint64_t i = rank; i < count_; i += count) {
      const piece* const current = piece_word(shards_[i].current).at();
      for_each_piece(shards_[i], [&](piece& one, bool is_kept) {
        const std::uint64_t all = granules_of(static_cast<int>(one.order));
        const std::uint64_t used = is_kept ? 0 : one.used;
        add(sum.pieces, 1);
        add(sum.piece_bytes, piece_bytes_ << one.order);
        add(sum.handed_out_bytes, used * granule);
        add(is_kept || &one == current ? sum.unused_bytes : sum.remains_bytes,
            (all - used) * granule);
      });
    }
    for (std::uint64_t i = rank; i < lists(); i += count) {
      for (const single* one = list(i); one != nullptr; one = one->next) {
        add(sum.singles, 1);
        add(sum.single_bytes, one->granules * granule + sizeof(single));
        add(sum.handed_out_bytes, one->granules * granule);
      }
    }
  }

 private:
  static constexpr std::size_t granule = arena_parts::granule;
  static constexpr std::uint32_t pause = 200;  // nanoseconds

  /// What came of the attempt to get another piece: a block out of it; or a piece has come
  /// meanwhile; or the heap has none.
  struct growth {
    void* block = nullptr;
    bool failed = false;
  };

  struct parts {
    std::byte* state;
    region rest;
    std::uint32_t shards;
  };
  static parts cut(const region& memory, std::uint32_t shards) {
    region_cursor cursor(memory, about.name);
    auto* state = cursor.take<std::byte>(state_bytes(shards), 256);
    const std::size_t left = cursor.left(1);
    return {state, {cursor.take<std::byte>(left), left}, shards};
  }
  arena_blocks(const parts& where, std::size_t bytes, const simt::device_properties& machine,
               const options& settings)
      : arena_blocks(M(where.rest, machine, settings.manager), bytes, where.state, where.shards,
                     settings.piece_bytes) {}

  static std::size_t copy_bytes() { return round_up<std::size_t>(sizeof(arena_blocks), 128); }

  static std::size_t checked_piece(const M& inner, std::size_t wished) {
    const std::size_t largest = round_down(inner.largest_block(), granule);
    const std::size_t most = largest < most_piece_bytes ? largest : most_piece_bytes;
    const std::size_t bytes = wished != 0                ? wished
                              : most < usual_piece_bytes ? most
                                                         : usual_piece_bytes;
    if (bytes < least_piece_bytes || bytes > most || bytes % granule != 0) {
      throw invalid_argument("pieces of " + std::to_string(bytes) + " bytes for an arena over " +
                             M::about.name + ": multiples of 16 from " +
                             std::to_string(least_piece_bytes) + " to " + std::to_string(most) +
                             " are possible in this heap");
    }
    return bytes;
  }

  /// Pieces grow until one for each shard takes an eighth of the heap.
  int order_for(const M& inner, std::size_t heap_bytes) const {
    const std::size_t share = heap_bytes / 8 / count_;
    int order = 0;
    while (order < piece_word::most_order && (piece_bytes_ << (order + 1)) <= share &&
           (piece_bytes_ << (order + 1)) <= inner.largest_block()) {
      ++order;
    }
    return order;
  }

  /// Granules of a piece that requests can have.
  WARPHEAP_DEVICE std::uint64_t granules_of(int order) const {
    return ((piece_bytes_ << order) - sizeof(piece)) / granule;
  }

  // Out of a piece.

  /// The members' shares of the current piece; null for those whose share is not in it.
  WARPHEAP_DEVICE void* take(const simt::group& team, std::uint32_t at,
                             std::uint32_t wanted) const {
    std::uint64_t bits = 0;
    // A hint: a piece that is current no more is full, or has room that may as well be used.
    if (team.is_leader()) bits = simt::load_hint(shards_[at].current);
    const piece_word from(team.broadcast(bits));
    return from.is_none() ? nullptr : take_from(from, team, wanted);
  }

  WARPHEAP_DEVICE void* take_from(piece_word from, const simt::group& team,
                                  std::uint32_t wanted) const {
    piece& in = *from.at();
    const std::uint64_t all = granules_of(from.order());
    // Pairs with the release in `open`: the block is the caller's to write.
    const std::uint64_t start = sync::bump_together(team, in.used, wanted, simt::acquire_to_write);
    if (start + wanted <= all) return in.granules() + start * granule;
    // The first share that does not fit ends the piece, and while `used` is beyond the end nobody
    // else gets anything. Back to where that share begins, so that smaller ones find the rest. An
    // exchange, relaxed: it continues the release sequence of `open`.
    if (start <= all) simt::atomic_ref(in.used).exchange(start, simt::order::relaxed);
    return nullptr;
  }

  // The next piece.

  /// Gets the next piece, for a lane; or waits for the lane that does.
  WARPHEAP_RARE static growth grow(const arena_blocks& in, std::uint32_t at, std::uint32_t wanted) {
    shard& of = in.shards_[at];
    const simt::atomic_ref growths(of.growths);
    // Acquire pairs with the release in `end_growth`: `current` is the one of that growth, or
    // later.
    std::uint32_t turn = growths.load(simt::order::acquire);
    const piece_word seen(simt::atomic_ref(of.current).load(simt::order::acquire));
    if (in.seems_to_fit(seen, wanted)) return {};
    if (begin_growth(of, turn)) {
      void* const block = in.open(of, seen, in.next_piece(of, seen), wanted);
      end_growth(of, turn, block != nullptr);
      return {block, block == nullptr};
    }
    // Ends: the lane whose turn it is waits for nothing but the heap.
    std::uint32_t now = turn;
    while (shard::is_growing(turn) && now == turn) {
      simt::backoff(pause);
      now = growths.load(simt::order::acquire);
    }
    return {nullptr, shard::last_failed(now)};
  }

  /// Whether it is the caller's turn; else `turn` is what others have made of it. Acquire pairs
  /// with the release in `end_growth`.
  WARPHEAP_DEVICE static bool begin_growth(shard& of, std::uint32_t& turn) {
    return !shard::is_growing(turn) &&
           simt::atomic_ref(of.growths)
               .compare_exchange(turn, shard::begun(turn), simt::order::acquire);
  }
  /// Release pairs with the acquires of `growths`.
  WARPHEAP_DEVICE static void end_growth(shard& of, std::uint32_t turn, bool succeeded) {
    simt::atomic_ref(of.growths).store(shard::ended(turn, succeeded), simt::order::release);
  }

  /// Relaxed: only a hint. \pre the caller has acquired `in`
  WARPHEAP_DEVICE bool seems_to_fit(piece_word in, std::uint32_t wanted) const {
    if (in.is_none()) return false;
    const std::uint64_t used = simt::atomic_ref(in.at()->used).load(simt::order::relaxed);
    return used + wanted <= granules_of(in.order());
  }

  /// What leads from a piece to the next one.
  WARPHEAP_DEVICE static piece*& link(shard& of, piece_word from) {
    return from.is_none() ? of.first : from.at()->next;
  }

  /// The piece that follows the last one, kept or new; null if the heap has none. \pre it is the
  /// caller's turn
  WARPHEAP_DEVICE piece* next_piece(shard& of, piece_word last) const {
    // Relaxed, as all of `link`: what was written there comes before the caller's turn.
    piece* next = simt::atomic_ref(link(of, last)).load(simt::order::relaxed);
    if (next != nullptr) return next;
    int order = last.is_none() ? 0 : last.order() + 1;
    if (order > most_order_) order = most_order_;
    next = static_cast<piece*>(inner_.malloc(piece_bytes_ << order));
    if (next == nullptr && order != 0) {
      order = 0;
      next = static_cast<piece*>(inner_.malloc(piece_bytes_));
    }
    if (next == nullptr) return nullptr;
    next->order = static_cast<std::uint32_t>(order);
    simt::atomic_ref(next->next).store(nullptr, simt::order::relaxed);
    return next;
  }

  /// Makes a piece the current one; its first granules are the caller's. Null of null.
  WARPHEAP_DEVICE void* open(shard& of, piece_word last, piece* next, std::uint32_t wanted) const {
    if (next == nullptr) return nullptr;
    // Release pairs with the acquires of those that take from it.
    simt::atomic_ref(next->used).store(wanted, simt::order::release);
    simt::atomic_ref(link(of, last)).store(next, simt::order::relaxed);
    simt::atomic_ref(of.current).store(piece_word(next).bits(), simt::order::release);
    return next->granules();
  }

  // When the heap has no pieces.

  /// A block of the heap.
  WARPHEAP_RARE static void* take_single(const arena_blocks& in, std::uint64_t granules) {
    auto* block = static_cast<single*>(in.inner_.malloc(granules * granule + sizeof(single)));
    if (block == nullptr) return nullptr;
    block->granules = granules;
    // Relaxed: the lists are read when nobody allocates.
    const simt::atomic_ref head(in.list(simt::noise() % in.lists()));
    block->next = head.exchange(block, simt::order::relaxed);
    return block + 1;
  }

  /// For a lane, when its shard has got no piece: a block of the heap, or what another shard has
  /// left.
  WARPHEAP_RARE static void* take_last(const arena_blocks& in, std::uint32_t at,
                                       std::uint32_t wanted) {
    void* block = take_single(in, wanted);
    for (std::uint32_t i = 0; i < in.count_ && block == nullptr; ++i) {
      block = in.take_left(in.shards_[(at + i) % in.count_], wanted);
    }
    return block;
  }

  /// Out of the current piece of a shard, or of one that it has kept. Null: none had room, and none
  /// was on its way. Read-modify-writes, which see the newest value, so that this is true.
  WARPHEAP_DEVICE void* take_left(shard& of, std::uint32_t wanted) const {
    const simt::atomic_ref growths(of.growths);
    const simt::group self(simt::lane_mask::of(simt::lane_id()));
    // Ends: the lanes waited for never wait for others than the heap, and each time that the caller
    // is too late another one has got something.
    for (;; simt::backoff(pause)) {
      std::uint32_t turn = growths.fetch_add(0, simt::order::acquire);
      if (shard::is_growing(turn)) continue;
      const piece_word now(simt::atomic_ref(of.current).load(simt::order::acquire));
      if (!now.is_none()) {
        const std::uint64_t all = granules_of(now.order());
        const std::uint64_t used =
            simt::atomic_ref(now.at()->used).fetch_add(0, simt::order::relaxed);
        if (used > all) continue;
        void* block = used + wanted <= all ? take_from(now, self, wanted) : nullptr;
        if (block != nullptr) return block;
        if (used + wanted <= all) continue;
      }
      piece* const kept = simt::atomic_ref(link(of, now)).load(simt::order::relaxed);
      if (kept == nullptr) return nullptr;
      if (!begin_growth(of, turn)) continue;
      void* const block = open(of, now, kept, wanted);
      end_growth(of, turn, true);
      return block;
    }
  }

  // Giving back.

  WARPHEAP_DEVICE std::uint64_t lists() const { return std::uint64_t{count_} * simt::warp_size; }
  WARPHEAP_DEVICE single*& list(std::uint64_t i) const {
    return shards_[i / simt::warp_size].singles[i % simt::warp_size];
  }

  WARPHEAP_DEVICE void free_singles(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < lists(); i += count) free_all(list(i));
  }

  template <class Linked>
  WARPHEAP_DEVICE void free_all(Linked*& first) const {
    for (Linked* one = first; one != nullptr;) {
      Linked* const next = one->next;
      inner_.free(one);
      one = next;
    }
    first = nullptr;
  }

  /// Calls `visit(piece, is_kept)` for each, in the order of their use.
  template <class Visit>
  WARPHEAP_DEVICE void for_each_piece(shard& of, const Visit& visit) const {
    const piece* const current = piece_word(of.current).at();
    bool is_kept = current == nullptr;
    for (piece* one = of.first; one != nullptr; one = one->next) {
      visit(*one, is_kept);
      if (one == current) is_kept = true;
    }
  }

  M inner_;
  arena_blocks* copy_;
  shard* shards_;
  std::uint32_t count_;
  std::size_t piece_bytes_;
  std::size_t largest_;
  int most_order_;
};

WARPHEAP_END_NAMESPACE
