// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// DynaSOAr as it was published: objects of types that a program names, each type as a structure of
/// arrays in blocks of its own, and a method for all objects of a type at once
/// (`heap::parallel_do`). See dynasoar.hpp for the publication, the algorithm and the invariants,
/// and fields.hpp for how a type names its fields.
///
///     using population = warpheap::dynasoar_objects<warpheap::type_list<rocket, spark>>;
///     warpheap::heap<population> sky{device, 16_MiB};
///     // In a lane:
///     const auto one = sky.make<spark>(x, y);   // a population::pointer<spark>
///     one.get<&spark::age>() += 1;              // the field, in its array: neighbours coalesce
///
/// Layout: as dynasoar.hpp, and notes of the snapshot, a word of slots per block:
///
///     [ moves ][ trees ][ free slots: u64 x m ][ types: u32 x m ][ blocks ... ][ noted: u64 x m ]
///     block of type T, n = slots_of<T>:  [ first field: [n] ][ second field: [n] ] ...
///
/// A block has the size of 64 objects of the smallest type; a larger type has as many slots as fit.
///
/// Deviations from the paper beyond those in dynasoar.hpp, and why:
/// - No inheritance: the contract visits the objects of one type.
/// - A pointer is the block's address and the slot in its six lowest bits, for blocks begin at
///   multiples of 64: the type and its number of slots are known where it is used.
/// - What a pass visits is noted in an array beside the blocks, once for the heap, and read by
///   striding over it, not compacted into a list of blocks: 8 bytes per block are quickly read.

#include "warpheap/core/type_list.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/dynasoar/blocks.hpp"
#include "warpheap/managers/dynasoar/fields.hpp"
#include "warpheap/managers/dynasoar/inspection.hpp"
#include "warpheap/managers/dynasoar/publication.hpp"
#include "warpheap/managers/dynasoar/table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE

/// An object of type T in a block of `Slots` slots, or none. May be stored and used by a later
/// launch; not an address.
template <class T, int Slots>
class dynasoar_pointer {
 public:
  dynasoar_pointer() = default;
  /// \pre `block` is a multiple of 64 and not null
  WARPHEAP_HD dynasoar_pointer(std::byte* block, std::uint32_t slot)
      : word_(reinterpret_cast<std::uintptr_t>(block) | slot) {}

  WARPHEAP_HD explicit operator bool() const { return word_ != 0; }
  friend bool operator==(dynasoar_pointer, dynasoar_pointer) = default;

  WARPHEAP_HD std::byte* block() const {
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(word_ & ~slot_mask));
  }
  WARPHEAP_HD std::uint32_t slot() const { return static_cast<std::uint32_t>(word_ & slot_mask); }

  /// A field in its array, for example `object.get<&particle::x>()`. \pre the object is live
  template <auto Member>
  WARPHEAP_HD auto& get() const {
    return soa_layout<T>::template field<Member>(block(), Slots, static_cast<int>(slot()));
  }
  WARPHEAP_HD T load() const {
    return soa_layout<T>::load(block(), Slots, static_cast<int>(slot()));
  }
  WARPHEAP_HD void store(const T& value) const {
    soa_layout<T>::store(block(), Slots, static_cast<int>(slot()), value);
  }

 private:
  static constexpr std::uint64_t slot_mask = 63;
  std::uint64_t word_ = 0;
};

template <class Types>
class dynasoar_objects;

/// \tparam Types each at most as large as 64 of the smallest, with an alignment of at most 64
template <class... Types>
class dynasoar_objects<type_list<Types...>> {
 public:
  using options = no_options;
  using types = type_list<Types...>;

  static_assert(sizeof...(Types) != 0, "dynasoar_objects needs at least one type");
  static_assert(((alignof(Types) <= 64) && ...), "objects are aligned to at most 64");

  struct shape {
    static constexpr std::uint32_t types = sizeof...(Types);
    static constexpr std::size_t block_bytes =
        align_up<std::size_t>(std::min({soa_layout<Types>::bytes(64)...}), 64);

    template <class T>
    WARPHEAP_HD static constexpr int slots_of() {
      int most = 64;
      while (most != 0 && soa_layout<T>::bytes(most) > block_bytes) --most;
      return most;
    }
    WARPHEAP_HD static constexpr int slots(std::uint32_t type) {
      std::uint32_t number = 0;
      int found = 0;
      ((found = number++ == type ? constant<slots_of<Types>()>::value : found), ...);
      return found;
    }
    WARPHEAP_HD static constexpr std::size_t slot_bytes(std::uint32_t type) {
      std::uint32_t number = 0;
      std::size_t found = 0;
      ((found = number++ == type ? sizeof(Types) : found), ...);
      return found;
    }

   private:
    template <int Value>
    using constant = std::integral_constant<int, Value>;
  };
  static_assert(((shape::template slots_of<Types>() > 0) && ...),
                "a type is larger than a block, which has the size of 64 objects of the smallest");

  /// Objects of type T in a block.
  template <class T>
  static constexpr int slots_of = shape::template slots_of<T>();
  template <class T>
  using pointer = dynasoar_pointer<T, slots_of<T>>;

  static constexpr capabilities about{
      .name = "dynasoar_objects",
      .description =
          "objects of named types as structures of arrays, all of a type visited at once",
      .folder = "dynasoar",
      .published = dynasoar_publication,
      .deviations = {"Those of dynasoar, but for the sizes.",
                     "No inheritance: a visit is to the objects of one type.",
                     "A pointer is the block's address and the slot.",
                     "A visit strides over the notes of all blocks; there is no list of blocks."},
  };

  dynasoar_objects(const region& memory, const simt::device_properties& /*machine*/,
                   const options& /*none*/) {
    blocks_ = dynasoar_blocks<shape>::lay_out(memory, about.name,
                                              [this](region_cursor& cursor, std::uint32_t count) {
                                                noted_ = cursor.take<std::uint64_t>(count);
                                              });
  }

  WARPHEAP_HD std::size_t largest_block() const {
    std::size_t largest = 0;
    ((largest = sizeof(Types) > largest ? sizeof(Types) : largest), ...);
    return largest;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    state().format(rank, count);
    for (std::uint64_t i = rank; i < state().count(); i += count) noted_[i] = 0;
  }

  template <class T, class... Arguments>
  WARPHEAP_DEVICE pointer<T> make(Arguments&&... arguments) const {
    const auto at = blocks_.allocate(number_of<T>());
    if (at.block == blocks_.none) return {};
    const pointer<T> made(state().address(at.block), at.slot);
    made.store(T(std::forward<Arguments>(arguments)...));
    return made;
  }

  template <class T>
  WARPHEAP_DEVICE T load(pointer<T> object) const {
    return object.load();
  }
  template <class T>
  WARPHEAP_DEVICE void store(pointer<T> object, const T& value) const {
    object.store(value);
  }

  template <class T>
  WARPHEAP_DEVICE void destroy(pointer<T> object) const {
    WARPHEAP_ASSERT(object);
    const std::uint64_t block = state().offset(object.block()) / shape::block_bytes;
    if (block >= state().count()) return;  // not of this heap
    blocks_.release(number_of<T>(), {static_cast<std::uint32_t>(block), object.slot()});
  }

  template <class T>
  WARPHEAP_DEVICE void snapshot(std::uint64_t rank, std::uint64_t count) const {
    constexpr std::uint32_t type = number_of<T>();
    for (std::uint64_t i = rank; i < state().count(); i += count) {
      const auto block = static_cast<std::uint32_t>(i);
      const std::uint64_t free = state().free_slots(block).load(simt::order::relaxed);
      noted_[i] =
          state().allocated_blocks(type).contains(block) ? table::all_slots(type) & ~free : 0;
    }
  }

  /// Neighbouring lanes visit neighbouring slots of a block.
  template <class T, class Visit>
  WARPHEAP_DEVICE void visit(std::uint64_t rank, std::uint64_t count, const Visit& f) const {
    constexpr std::uint64_t slots = slots_of<T>;
    for (std::uint64_t i = rank; i < state().count() * slots; i += count) {
      const auto block = static_cast<std::uint32_t>(i / slots);
      const auto slot = static_cast<std::uint32_t>(i % slots);
      if ((noted_[block] >> slot & 1) != 0) f(pointer<T>(state().address(block), slot));
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    inspect_blocks(state(), rank, count, findings);
  }

 private:
  /// The index of T among the types.
  template <class T>
  WARPHEAP_HD static constexpr std::uint32_t number_of() {
    static_assert((std::is_same_v<T, Types> || ...), "T is not one of the manager's types");
    std::uint32_t number = 0;
    bool found = false;
    ((found = found || std::is_same_v<T, Types>, number += found ? 0 : 1), ...);
    return number;
  }

  using table = dynasoar_table<shape>;

  WARPHEAP_HD const table& state() const { return blocks_.state(); }

  dynasoar_blocks<shape> blocks_;
  std::uint64_t* noted_ = nullptr;
};

WARPHEAP_END_NAMESPACE
