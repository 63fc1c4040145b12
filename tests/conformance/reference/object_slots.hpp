// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/manager.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Mistakes that the suite of objects must find.
enum class slot_fault {
  none,
  not_claimed,         ///< lanes that make objects at once get the same slot
  never_frees,         ///< destroyed objects keep their slot
  visits_destroyed,    ///< visits see every slot, whatever is in it
  visits_without_end,  ///< visits see objects that were made meanwhile
};

/// The simplest manager of objects: for each type a table of slots with a flag each.
///
/// Layout, for each type: [ in use: u32 per slot ][ noted: u32 per slot ][ slots ]. Progress:
/// `make` tries each slot once.
template <class Types, slot_fault Fault = slot_fault::none>
class object_slots;

template <class... Types, slot_fault Fault>
class object_slots<type_list<Types...>, Fault> {
 public:
  using options = no_options;
  using types = type_list<Types...>;
  template <class T>
  using pointer = T*;
  static constexpr capabilities about{.name = "object_slots"};

  object_slots(const region& memory, const simt::device_properties& /*machine*/,
               const options& /*none*/) {
    region_cursor cursor(memory, about.name);
    const std::size_t each = ((sizeof(Types) + 8) + ...);
    const std::size_t left = cursor.left(16);
    const std::size_t slack = 64 * sizeof...(Types);
    count_ = left < slack + each ? 1 : static_cast<std::uint32_t>((left - slack) / each);
    ((tables_[number_of<Types>()] = take<Types>(cursor)), ...);
  }

  WARPHEAP_HD std::size_t largest_block() const {
    std::size_t largest = 0;
    ((largest = sizeof(Types) > largest ? sizeof(Types) : largest), ...);
    return largest;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (const table& of : tables_) {
      for (std::uint64_t i = rank; i < count_; i += count) of.used[i] = of.noted[i] = 0;
    }
  }

  template <class T, class... Arguments>
  WARPHEAP_DEVICE T* make(Arguments&&... arguments) const {
    const table& of = tables_[number_of<T>()];
    const std::uint64_t start = simt::noise() % count_;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const std::uint64_t slot = (start + i) % count_;
      const simt::atomic_ref used(of.used[slot]);
      if (Fault == slot_fault::not_claimed && used.load(simt::order::relaxed) == 0) {
        simt::backoff(50);
        used.store(1, simt::order::relaxed);
      } else if (used.exchange(1, simt::order::acquire) != 0) {
        continue;
      }
      return new (of.slots + slot * sizeof(T)) T(std::forward<Arguments>(arguments)...);
    }
    return nullptr;
  }

  template <class T>
  WARPHEAP_DEVICE T load(T* object) const {
    return *object;
  }
  template <class T>
  WARPHEAP_DEVICE void store(T* object, const T& value) const {
    *object = value;
  }

  template <class T>
  WARPHEAP_DEVICE void destroy(T* object) const {
    WARPHEAP_ASSERT(object != nullptr);
    if (Fault == slot_fault::never_frees) return;
    const table& of = tables_[number_of<T>()];
    const auto slot = object - reinterpret_cast<T*>(of.slots);
    simt::atomic_ref(of.used[slot]).store(0, simt::order::release);
  }

  template <class T>
  WARPHEAP_DEVICE void snapshot(std::uint64_t rank, std::uint64_t count) const {
    const table& of = tables_[number_of<T>()];
    for (std::uint64_t i = rank; i < count_; i += count) {
      of.noted[i] = Fault == slot_fault::visits_destroyed ? 1 : of.used[i];
    }
  }

  template <class T, class Visit>
  WARPHEAP_DEVICE void visit(std::uint64_t rank, std::uint64_t count, const Visit& f) const {
    const table& of = tables_[number_of<T>()];
    for (std::uint64_t i = rank; i < count_; i += count) {
      const bool meant = Fault == slot_fault::visits_without_end
                             ? simt::atomic_ref(of.used[i]).load(simt::order::relaxed) != 0
                             : of.noted[i] != 0;
      if (meant) f(reinterpret_cast<T*>(of.slots) + i);
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    const std::size_t bytes[]{sizeof(Types)...};
    for (std::size_t t = 0; t < sizeof...(Types); ++t) {
      for (std::uint64_t i = rank; i < count_; i += count) {
        findings.in_use(tables_[t].used[i], bytes[t]);
      }
    }
  }

 private:
  struct table {
    std::uint32_t* used;
    std::uint32_t* noted;
    std::byte* slots;
  };

  template <class T>
  WARPHEAP_HD static constexpr int number_of() {
    int number = 0;
    bool found = false;
    ((found = found || std::is_same_v<T, Types>, number += found ? 0 : 1), ...);
    return number;
  }

  template <class T>
  table take(region_cursor& cursor) const {
    auto* used = cursor.take<std::uint32_t>(count_);
    auto* noted = cursor.take<std::uint32_t>(count_);
    return {used, noted, cursor.take<std::byte>(count_ * sizeof(T), alignof(T))};
  }

  table tables_[sizeof...(Types)];
  std::uint32_t count_;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
