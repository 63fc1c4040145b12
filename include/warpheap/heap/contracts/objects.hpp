// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/type_list.hpp"
#include "warpheap/heap/contracts/manager.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace detail {

/// Stands for what callers do with each object.
template <class Pointer>
struct visit_nothing {
  WARPHEAP_DEVICE void operator()(Pointer /*object*/) const {}
};

template <class M, class T>
concept manages_type = std::is_trivially_copyable_v<T> &&
    std::is_trivially_copyable_v<typename M::template pointer<T>> &&
    requires(const M m, typename M::template pointer<T> object, const T& value,
             std::uint64_t rank) {
  {static_cast<bool>(object)};
  { m.template load<T>(object) } -> std::same_as<T>;
  m.template store<T>(object, value);
  { m.template make<T>() } -> std::same_as<typename M::template pointer<T>>;
  m.template destroy<T>(object);
  m.template snapshot<T>(rank, rank);
  m.template visit<T>(rank, rank, visit_nothing<typename M::template pointer<T>>{});
};

template <class M, class Types>
inline constexpr bool manages_all = false;
template <class M, class... Types>
inline constexpr bool manages_all<M, type_list<Types...>> = (manages_type<M, Types> && ...);

}  // namespace detail

/// Objects of the types in the `type_list` `M::types`, which are trivially copyable and default
/// constructible. `M::pointer<T>` refers to an object: a `T*`, or a class that finds the fields
/// where the manager put them. It may be stored and used by a later launch.
///
/// - `make<T>(arguments...)`: constructs a T; the pointer is false if the heap is exhausted;
/// - `load<T>(object)`, `store<T>(object, value)`: the whole object by value. Plain accesses: lanes
///   that share an object must order them themselves;
/// - `destroy<T>(object)`: by any lane of this or a later launch. \pre `object` is live
/// - `snapshot<T>(rank, count)`: called by every lane of a grid while no lane creates or destroys
///   objects: notes which objects of type T exist;
/// - `visit<T>(rank, count, f)`: called by every lane of a later grid: calls `f(object)` once for
///   each object that was noted. `f` may create objects and may destroy the one it was given.
///
/// `largest_block()` is the size of the largest of the types.
template <class M>
concept object_manager = manager<M> && detail::manages_all<M, typename M::types>;

WARPHEAP_END_NAMESPACE
