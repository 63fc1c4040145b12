// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "any_manager.hpp"
#include "exact_memory.hpp"
#include "ledger.hpp"
#include "manager_world.hpp"
#include "scenario.hpp"
#include "small_heap.hpp"
#include "untracked.hpp"

#include "warpheap/heap/contracts/objects.hpp"
#include "warpheap/managers/dynasoar/fields.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Types of which a block of 256 bytes has `slots` objects: 64, 2 and 1. All fields follow from a
/// number.
struct speck {
  std::uint32_t number = 0;
  using fields = field_list<&speck::number>;
  static constexpr int slots = 64;

  speck() = default;
  explicit speck(std::uint32_t of) : number(of) {}
  friend bool operator==(const speck&, const speck&) = default;
};
struct half {
  std::uint32_t number = 0;
  std::uint64_t square = 0;
  std::uint32_t rest[28]{};
  using fields = field_list<&half::number, &half::square, &half::rest>;
  static constexpr int slots = 2;

  half() = default;
  explicit half(std::uint32_t of) : number(of), square(std::uint64_t{of} * of) {
    std::fill(std::begin(rest), std::end(rest), of);
  }
  friend bool operator==(const half&, const half&) = default;
};
struct whole {
  std::uint8_t low = 0;
  double share = 0;
  std::uint32_t rest[60]{};
  using fields = field_list<&whole::low, &whole::share, &whole::rest>;
  static constexpr int slots = 1;

  whole() = default;
  explicit whole(std::uint32_t of) : low(static_cast<std::uint8_t>(of)), share(of / 2.0) {
    std::fill(std::begin(rest), std::end(rest), of);
  }
  friend bool operator==(const whole&, const whole&) = default;
};

/// Objects in a region that is put back into its first state by a copy. Which objects there is room
/// for follows from those that are held, without asking the manager.
template <object_manager M, simt::grid Shape = two_warps>
class object_world {
 public:
  static constexpr simt::grid shape = Shape;

  explicit object_world(int blocks)
      : blocks_(blocks),
        region_(front(blocks) + static_cast<std::size_t>(blocks) * (block_bytes + 8)),
        manager_(region_.all(), explored_machine(), {}) {
    format_in_any_order(
        M::about.name, region_.all(),
        [this](std::uint64_t rank, std::uint64_t count) { manager_.format(rank, count); });
    keep_state();
  }

  void reset(std::uint64_t seed) {
    std::memcpy(region_.base(), state_.data(), state_.size());
    ledger_.reset(region_.base(), region_.base() + state_.size(), 1);
    for (const object& one : kept_) adopt(one);
    seed_ = seed;
  }

  damaged_heap damaged() {
    const auto populate = [this] {
      object_world::reset(0);
      run_alone([this] {
        for (std::uint64_t i = 0; i < 7; ++i) make(i % 3, true);
      });
    };
    const auto inspect = [this](inspection& found) { manager_.inspect(0, 1, found); };
    return {
        {reinterpret_cast<std::uint32_t*>(region_.base()), state_.size() / sizeof(std::uint32_t)},
        inspect,
        populate};
  }

  /// What is held is whole, and of each of the larger types there are just as many more as there
  /// must be room for.
  std::string verdict() {
    std::string wrong = problem();
    for (std::uint64_t which = types; which-- != 1 && wrong.empty();) {
      const int fit = room(which);
      std::vector<object> more;
      run_alone([&] {
        while (const object one = make(which)) more.push_back(one);
      });
      if (static_cast<int>(more.size()) != fit) {
        return std::to_string(more.size()) + " more objects of type " + std::to_string(which) +
               " can be made, and there is room for " + std::to_string(fit);
      }
      wrong = problem();
      run_alone([&] {
        for (const object& one : more) destroy(one);
      });
    }
    return wrong.empty() ? problem() : wrong;
  }

 protected:
  static constexpr std::uint64_t types = M::types::size;

  struct object {
    std::byte* at = nullptr;
    std::uint64_t which = 0;
    explicit operator bool() const { return at != nullptr; }
  };

  // For lanes.

  /// An object of the type number `which`, with a number of its own; a finding if there `must` be
  /// room for one.
  object make(std::uint64_t which, bool must = false) {
    object made{nullptr, which % types};
    with_type(made.which, [&]<class T>(std::type_identity<T>) {
      const auto got = manager_.template make<T>(std::uint32_t{7});
      ledger_.remark("make", got ? address_of(got) : nullptr, T::slots);
      if (!got) {
        if (must) ledger_.note("null although there is room");
        return;
      }
      made.at = address_of(got);
      if (!(manager_.template load<T>(got) == T(7))) note_lost(made.at);
      adopt(made);
    });
    return made;
  }

  /// Checks an object, which may be of another lane that handed it over, and destroys it.
  void destroy(const object& old) {
    if (!old) return;
    with_type(old.which, [&]<class T>(std::type_identity<T>) {
      const ledger::entry known = ledger_.remove(old.at);
      ledger_.remark("destroy", old.at, T::slots);
      check<T>(known);
      manager_.template destroy<T>(pointer_to<T>(old.at));
    });
  }

  /// What a visit to the objects of a type was given.
  template <class T>
  static object visited(typename M::template pointer<T> given) {
    object found{address_of(given), 0};
    with_types([&]<class Each>(std::type_identity<Each>, std::uint64_t number) {
      if (std::is_same_v<T, Each>) found.which = number;
    });
    return found;
  }
  const std::vector<object>& kept() const { return kept_; }

  void note(const char* what) { ledger_.note(what); }
  const M& manager() const { return manager_; }
  std::uint64_t seed() const { return seed_; }

  // Only while no lane runs.

  /// Runs `act` in a single lane.
  template <class Act>
  void run_alone(const Act& act) {
    const auto outcome = alone_.run({simt::strategy::sticky, 1}, act);
    if (!outcome.stuck.empty()) ledger_.note("a single lane does not finish");
  }

  /// From now on `reset` brings back the present state, in which these objects are held.
  void keep_state(const std::vector<object>& held = {}) {
    state_.assign(region_.base(), region_.base() + region_.all().bytes);
    kept_ = held;
  }

  /// How many more objects of a type there is room for, beside those that are held.
  int room(std::uint64_t which) const {
    int fit = 0;
    for (int block = 0; block < blocks_; ++block) {
      const auto [held, type] = contents(block);
      if (held == 0 || type == which) fit += slots_of(which) - held;
    }
    return fit;
  }

  std::string problem() {
    for (int i = 0; i < ledger_.count(); ++i) {
      const ledger::entry& one = ledger_.at(i);
      const std::uint64_t which = which_[index_of(one.start)];
      with_type(which, [&]<class T>(std::type_identity<T>) { check<T>(one); });
    }
    if (!ledger_.problem().empty()) return ledger_.problem();
    inspection found;
    manager_.inspect(0, 1, found);
    if (std::string wrong = violated(found); !wrong.empty()) return wrong;
    if (found.blocks_in_use == static_cast<std::uint64_t>(ledger_.count())) return "";
    return std::to_string(found.blocks_in_use) + " objects are in use and " +
           std::to_string(ledger_.count()) + " are held";
  }

 private:
  static constexpr std::size_t block_bytes = 256;

  /// Before the blocks: counts and a copy of the handle, a line for each of seven trees, and 12
  /// bytes per block. Behind them are 8 for each.
  static constexpr std::size_t front(int blocks) {
    return align_up<std::size_t>(128 + 7 * 128 + 12 * static_cast<std::size_t>(blocks), 128);
  }

  template <class Act>
  static void with_types(const Act& act) {
    std::uint64_t number = 0;
    M::types::for_each([&](auto type) { act(type, number++); });
  }
  template <class Act>
  static void with_type(std::uint64_t which, const Act& act) {
    with_types([&](auto type, std::uint64_t number) {
      if (number == which) act(type);
    });
  }
  static int slots_of(std::uint64_t which) {
    int slots = 0;
    with_type(which, [&]<class T>(std::type_identity<T>) { slots = T::slots; });
    return slots;
  }

  /// A pointer's bits are the block's address and the slot: no two objects have the same.
  template <class Pointer>
  static std::byte* address_of(Pointer object) {
    return std::bit_cast<std::byte*>(object);
  }
  template <class T>
  static typename M::template pointer<T> pointer_to(std::byte* at) {
    return std::bit_cast<typename M::template pointer<T>>(at);
  }
  /// Of an object among all that blocks have bytes for.
  std::size_t index_of(const std::byte* at) const {
    const auto offset = static_cast<std::size_t>(at - region_.base()) - front(blocks_);
    return std::min(offset, which_.size() - 1);
  }

  /// Writes an object into the ledger, and its number into the object.
  void adopt(const object& one) {
    const std::uint32_t number = ledger_.add(one.at, 1);
    which_[index_of(one.at)] = static_cast<std::uint8_t>(one.which);
    with_type(one.which, [&]<class T>(std::type_identity<T>) {
      manager_.template store<T>(pointer_to<T>(one.at), T(number));
    });
  }
  void note_lost(const std::byte* at) { ledger_.note("an object that lost its contents", at, 1); }
  template <class T>
  void check(const ledger::entry& one) {
    const T found = manager_.template load<T>(pointer_to<T>(one.start));
    if (!(found == T(one.tag))) note_lost(one.start);
  }

  struct block_contents {
    int held;
    std::uint64_t which;
  };
  block_contents contents(int block) const {
    block_contents found{0, 0};
    for (int i = 0; i < ledger_.count(); ++i) {
      const std::size_t index = index_of(ledger_.at(i).start);
      if (index / block_bytes != static_cast<std::size_t>(block)) continue;
      found = {found.held + 1, which_[index]};
    }
    return found;
  }

  int blocks_;
  exact_memory region_;
  M manager_;
  std::vector<std::byte> state_;
  std::vector<object> kept_;
  ledger ledger_;
  std::array<untracked<std::uint8_t>, 32 * block_bytes> which_{};
  std::uint64_t seed_ = 0;
  simt::explorer alone_{{1, 1}, 2'000'000};
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
