// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/bits.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/class_growth.hpp"
#include "warpheap/managers/warpheap/class_orders.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/managers/warpheap/slot_claims.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// How lanes whose turn has found nothing get slots of a class that has much of the heap: those of
/// its new chunks, one after the other (`warpheap_class_orders`). The class grows by what lanes
/// have asked for, and an eighth of what it has: a class that grows by chance (class_growth.hpp)
/// has up to twice the chunks that it needs, and others cannot have those while a block lies in
/// each (docs/decisions/0056). Exists for one call.
template <warpheap_config Config>
class warpheap_ordered_words {
 public:
  using supply = warpheap_supply<Config>;
  using slot_claims = warpheap_slot_claims<Config>;
  using class_growth = warpheap_class_growth<Config>;
  using spot = typename slot_claims::spot;
  using place = typename slot_claims::place;

  static constexpr std::uint32_t none = supply::none;

  WARPHEAP_DEVICE warpheap_ordered_words(const supply& from, std::uint32_t of)
      : supply_(from), of_(of), words_(from, of) {}

  /// Whether the class keeps an order: it has chunks, or is about to have some, that do.
  WARPHEAP_DEVICE bool keeps_order() const {
    const warpheap_class_orders& orders = supply_.orders();
    if (!orders.any()) return false;
    const std::uint32_t first = orders.first(words_.shape().count);
    // What the multiprocessor remembers is too little in a class that grows.
    return simt::load_hint(known().population) > first || chunks_now() + orders.coming(of_) > first;
  }

  /// A slot for each lane that `wants` one. A collective of those that call together, for any
  /// classes; null for some only means that they must look elsewhere.
  ///
  /// Ends: each turn of the loop claims, of a bounded number of words; or lets the class grow, a
  /// few times; or waits for a chunk, a bounded time. A lane that waits holds nothing that the
  /// lanes need that add chunks, but for those that called with it: they wait for each other, and a
  /// group that is to add chunks does so before it waits.
  WARPHEAP_DEVICE place take(bool wants) const {
    const simt::group team = simt::coalesced(&supply_.whole());
    place got;
    order_ticket mine;
    while (team.any(wants)) {
      const simt::group same = team.match(wants ? of_ : none);
      auto next = step::wait;
      spot at;
      std::uint64_t bits = 0;
      if (wants && same.is_leader()) {
        if (mine.visits == 0) draw(mine, static_cast<std::uint32_t>(same.size()));
        next = choose(mine);
        if (next == step::visit) bits = visit(mine, same.size(), at);
      }
      team.sync();
      next = static_cast<step>(team.shuffle(static_cast<std::uint32_t>(next), same.leader()));
      if (wants && next == step::grow) {
        bool grown = false;
        got = class_growth(supply_, of_).add_chunks(same, mine.adds, grown);
        if (!grown) mine.growths = most_growths;
        if (got.chunk != none && same.is_leader()) let_go(mine);
      }
      // The leader knows what the group was handed: it is the last one to get a slot.
      const place slot = words_.share(team, same, at, bits, same.size() - 1 - same.rank());
      if (next == step::visit) got = slot;
      wants = wants && got.chunk == none && next != step::none_left;
      team.sync();
      if (wants && next == step::wait) simt::backoff(pause_ns);
    }
    team.sync();
    return got;
  }

 private:
  static constexpr std::uint32_t pause_ns = 1000;
  /// Somewhat longer than it takes to add chunks.
  static constexpr std::uint32_t most_waits = 150;
  static constexpr std::uint32_t most_draws = 32;
  /// Groups of fewer lanes share words with others at the same time: each begins at a word of its
  /// own among `stripe`, so that few claim slots of the same word, and goes on to others there.
  static constexpr std::uint32_t few = 16;
  static constexpr std::uint32_t stripe = 16;
  static constexpr std::uint32_t most_visits = 4;
  static constexpr std::uint32_t most_growths = Config.most_growths;
  /// How many lanes look at the number of chunks while as many are handed out as one growth adds.
  static constexpr std::uint32_t checks = 8;

  enum class step : std::uint32_t { wait, grow, visit, none_left };

  /// What the leader of a group knows of the slots that the group was handed. In few words: they
  /// occupy registers in all that the loop calls, and a kernel that allocates has as many as the
  /// function that needs most.
  struct order_ticket {
    std::uint32_t number = 0;     ///< of the chunk in the class
    std::uint32_t base : 16 = 0;  ///< the group looks at words base..base+size-1, ...
    std::uint32_t size : 16 = 1;
    std::uint32_t word : 16 = 0;   ///< ... the next one at this
    std::uint32_t slots : 8 = 0;   ///< that were handed out
    std::uint32_t visits : 8 = 0;  ///< that are left
    std::uint32_t place : 4 = 0;
    std::uint32_t growths : 4 = 0;
    std::uint32_t draws : 8 = 0;
    std::uint32_t waits : 8 = 0;
    std::uint32_t adds : 6 = 0;     ///< chunks
    std::uint32_t is_used : 1 = 0;  ///< whether a word was visited
    std::uint32_t is_checked : 1 = 0;
  };
  static_assert(most_growths < 16 && Config.most_at_once < 64,
                "warpheap_config: most_growths must be less than 16, and most_at_once than 64");
  static_assert(most_waits < 256 && most_draws < 256 && warpheap_class_orders::most_places <= 16);

  WARPHEAP_DEVICE auto& known() const { return supply_.classes().of(of_).turns; }
  WARPHEAP_DEVICE std::uint32_t chunks_now() const {
    const std::uint32_t now = simt::atomic_ref(known().population).load(simt::order::relaxed);
    return now < supply_.universe() ? now : supply_.universe();
  }

  /// Has slots handed out to a group of that many lanes.
  WARPHEAP_DEVICE void draw(order_ticket& mine, std::uint32_t lanes) const {
    const warpheap_slots& shape = words_.shape();
    const std::uint32_t every = shape.count * supply_.most_at_once() / checks;
    // Drawn, so that all places move on, whichever warps allocate.
    mine.place = scale_to(simt::rough_noise(), supply_.orders().places());
    mine.slots = lanes < shape.count ? lanes : shape.count;
    if (mine.draws > 1) {
      // The chunks of the last two draws are in use: turns serve lanes there, too. In a class that
      // has lost chunks and got others by chance, that may be so for thousands. Not by what the
      // multiprocessor remembers: chunks that the class has lost since would never correct it.
      const std::uint32_t has = chunks_now();
      const std::uint32_t last = has - has / 8;
      const std::uint32_t behind = mine.number + (1u << (mine.draws < 16 ? mine.draws : 16));
      supply_.orders().go_on(of_, mine.place, behind < last ? behind : last, shape.count);
    }
    const auto begin =
        supply_.orders().hand_out(of_, mine.place, mine.slots, shape.count, every == 0 ? 1 : every);
    mine.number = begin.chunk;
    mine.is_checked = begin.is_checked;
    mine.is_used = false;
    ++mine.draws;
    const std::uint32_t first = begin.slot / shape.per_word;
    if (lanes >= few) {
      mine.base = first;
      mine.word = first;
      const bool is_across = begin.slot % shape.per_word + lanes > shape.per_word;
      mine.size = is_across && first + 1 < shape.words ? 2 : 1;
      mine.visits = mine.size;
    } else {
      mine.base = first / stripe * stripe;
      mine.size = shape.words - mine.base < stripe ? shape.words - mine.base : stripe;
      mine.word = mine.base + scale_to(simt::rough_noise(), mine.size);
      mine.visits = mine.size < most_visits ? mine.size : most_visits;
    }
  }

  /// What the group does next.
  WARPHEAP_DEVICE step choose(order_ticket& mine) const {
    const std::uint32_t has = simt::load_hint(known().population);
    if (!mine.is_checked && mine.number < has && mine.number < supply_.universe()) {
      return visit_or_give_up(mine);
    }
    // A copy: what a function gets by its address lies in memory.
    order_ticket copy = mine;
    const step next = simt::call_apart(&consider_apart, supply_, copy, of_);
    mine = copy;
    return next;
  }
  WARPHEAP_RARE static step consider_apart(const supply& from, order_ticket& mine,
                                           std::uint32_t of) {
    return warpheap_ordered_words(from, of).consider(mine);
  }
  /// The same for a group that was handed slots of a chunk that may be yet to come, or that is to
  /// look at the number of chunks. Growth comes first: others wait for it.
  WARPHEAP_DEVICE step consider(order_ticket& mine) const {
    const std::uint32_t has = chunks_now();
    const std::uint32_t all = has + supply_.orders().coming(of_);
    const int left = supply_.parts_left(of_);
    const bool may_grow = (left >= 1 || supply_.seems_to_have_chunks()) &&
                          mine.growths < most_growths && mine.number < supply_.universe();
    if (may_grow && begins_growth(mine, has, all, left)) return step::grow;
    if (!may_grow && mine.number >= has) {
      const bool all_gone = is_all_gone();
      // From now on, requests begin where blocks were freed; if many get here. Drawn: for a few
      // leftovers of warps that find words with room, it would be slower.
      if (all_gone && simt::rough_noise() >> 20 == 0) supply_.whole().set_dry(true);
      if (all_gone || mine.number >= all) return give_up(mine);
    }
    mine.is_checked = false;
    if (mine.number < has) return visit_or_give_up(mine);
    if (mine.waits == most_waits) return give_up(mine);
    ++mine.waits;
    return step::wait;
  }
  WARPHEAP_DEVICE step visit_or_give_up(const order_ticket& mine) const {
    return mine.draws <= most_draws ? step::visit : give_up(mine);
  }
  /// Whether nothing is left for the class, wherever the lane looks, and nothing in the pool. Then
  /// slots are where blocks were freed, and a wait for a chunk that is on its way to others is
  /// longer than a search.
  WARPHEAP_DEVICE bool is_all_gone() const {
    for (int looks = 0; looks < 4; ++looks) {
      if (supply_.parts_left(of_) >= 1) return false;
    }
    return !supply_.pool().peek_any();
  }
  WARPHEAP_DEVICE step give_up(const order_ticket& mine) const {
    let_go(mine);
    return step::none_left;
  }
  WARPHEAP_DEVICE void let_go(const order_ticket& mine) const {
    if (!mine.is_used && mine.number < supply_.universe()) {
      supply_.orders().give_back(of_, mine.place, mine.slots);
    }
  }
  /// Whether the class needs more chunks than the `all` that it has or is about to get, and the
  /// group is to add some. The class grows when less than a 64th of it is left, and then by an
  /// eighth, or less in a heap of which less is `left`: many launches need no growth, which takes
  /// longer than everything else.
  WARPHEAP_DEVICE bool begins_growth(order_ticket& mine, std::uint32_t has, std::uint32_t all,
                                     int left) const {
    const warpheap_class_orders& orders = supply_.orders();
    if (mine.number + has / 64 >= all) {
      const auto share = static_cast<std::uint32_t>(left < 64 ? left / 8 : 8);
      orders.want(of_, mine.number + 1 + has * share / 64);
    }
    const std::uint32_t wanted = orders.wanted(of_);
    if (all >= wanted) return false;
    // From other classes they come one at a time.
    mine.adds = supply_.pool().peek_any() ? supply_.most_at_once() : 1;
    if (has + orders.announce(of_, mine.adds) < wanted) {
      ++mine.growths;
      return true;
    }
    orders.arrived(of_, mine.adds);
    return false;
  }

  /// Claims slots of a word. A chunk that has a number and no name yet, or has left, has none for
  /// the class: the group goes on.
  WARPHEAP_DEVICE std::uint64_t visit(order_ticket& mine, int lanes, spot& at) const {
    at = supply_.classes().named(of_, mine.number, mine.word);
    --mine.visits;
    mine.is_used = true;
    if (++mine.word == mine.base + mine.size) mine.word = mine.base;
    return words_.claim_first(at, lanes);
  }

  const supply& supply_;
  std::uint32_t of_;
  slot_claims words_;
};

WARPHEAP_END_NAMESPACE
