// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Where the fields of objects lie in a block: a structure of arrays, one array per field.
///
///     struct particle {
///       float x, y;
///       std::uint32_t age;
///       using fields = warpheap::field_list<&particle::x, &particle::y, &particle::age>;
///     };
///
///     block of n slots:  [ x: float[n] ][ y: float[n] ][ age: u32[n] ]
///
/// A type without `fields` is one field. Arrays begin at multiples of their elements' alignment.

#include "warpheap/core/align.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

/// The data members of a class, all of them, in the order in which it declares them.
template <auto... Members>
struct field_list {};

namespace detail {

template <class T, class Field>
std::type_identity<Field> type_of_field(Field T::*);

/// The fields of T, each in its own array.
template <class T, class Fields>
class field_arrays;

template <class T, auto... Members>
class field_arrays<T, field_list<Members...>> {
 public:
  /// Bytes of the arrays of `slots` objects.
  WARPHEAP_HD static constexpr std::size_t bytes(int slots) {
    return end_of(sizeof...(Members), slots);
  }

  /// The member `Member` of the object in `slot`.
  template <auto Member>
  WARPHEAP_HD static auto& field(std::byte* block, int slots, int slot) {
    using type = type_of<Member>;
    constexpr std::size_t number = number_of<Member>();
    static_assert(number < sizeof...(Members), "this member is not in T::fields");
    const std::size_t begin = align_up<std::size_t>(end_of(number, slots), alignof(type));
    return *reinterpret_cast<type*>(block + begin + static_cast<std::size_t>(slot) * sizeof(type));
  }

  WARPHEAP_HD static T load(std::byte* block, int slots, int slot) {
    T value{};
    (std::memcpy(&(value.*Members), &field<Members>(block, slots, slot), sizeof(type_of<Members>)),
     ...);
    return value;
  }
  WARPHEAP_HD static void store(std::byte* block, int slots, int slot, const T& value) {
    (std::memcpy(&field<Members>(block, slots, slot), &(value.*Members), sizeof(type_of<Members>)),
     ...);
  }

 private:
  template <auto Member>
  using type_of = typename decltype(type_of_field(Member))::type;

  template <auto A, auto B>
  WARPHEAP_HD static constexpr bool same() {
    if constexpr (std::is_same_v<decltype(A), decltype(B)>) return A == B;
    return false;
  }
  template <auto Member>
  WARPHEAP_HD static constexpr std::size_t number_of() {
    std::size_t number = 0;
    bool found = false;
    ((found = found || same<Member, Members>(), number += found ? 0 : 1), ...);
    return number;
  }

  /// Where the first `fields` arrays of `slots` objects end.
  WARPHEAP_HD static constexpr std::size_t end_of(std::size_t fields, int slots) {
    std::size_t end = 0;
    std::size_t number = 0;
    ((end = number++ < fields ? align_up<std::size_t>(end, alignof(type_of<Members>)) +
                                    static_cast<std::size_t>(slots) * sizeof(type_of<Members>)
                              : end),
     ...);
    return end;
  }

  // One object's arrays are its members as a class lays them out: a forgotten one would be missing.
  static_assert(align_up<std::size_t>(end_of(sizeof...(Members), 1), alignof(T)) == sizeof(T),
                "T::fields must name every data member of T, in the order of their declarations");
};

/// The whole object is one field.
template <class T>
class field_arrays<T, void> {
 public:
  WARPHEAP_HD static constexpr std::size_t bytes(int slots) {
    return static_cast<std::size_t>(slots) * sizeof(T);
  }
  WARPHEAP_HD static T load(const std::byte* block, int /*slots*/, int slot) {
    T value{};
    std::memcpy(&value, block + bytes(slot), sizeof(T));
    return value;
  }
  WARPHEAP_HD static void store(std::byte* block, int /*slots*/, int slot, const T& value) {
    std::memcpy(block + bytes(slot), &value, sizeof(T));
  }
};

template <class T>
struct fields_of {
  using type = void;
};
template <class T>
requires requires { typename T::fields; }
struct fields_of<T> {
  using type = typename T::fields;
};

}  // namespace detail

/// The arrays of type T in a block.
template <class T>
using soa_layout = detail::field_arrays<T, typename detail::fields_of<T>::type>;

WARPHEAP_END_NAMESPACE
