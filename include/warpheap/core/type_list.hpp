// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstddef>
#include <type_traits>

namespace warpheap {

/// A list of types, to be walked at compile time.
template <class... Types>
struct type_list {
  static constexpr std::size_t size = sizeof...(Types);

  /// Calls `visit(std::type_identity<T>{})` for each type, in order.
  template <class Visit>
  static constexpr void for_each(Visit&& visit) {
    (visit(std::type_identity<Types>{}), ...);
  }

  template <class... More>
  static type_list<Types..., More...> append(type_list<More...>);

  /// The same types as arguments of another template.
  template <template <class...> class Other>
  using apply = Other<Types...>;
};

namespace detail {
template <std::size_t Index, std::size_t Shard, std::size_t Shards, class Kept, class... Rest>
struct take_shard {
  using type = Kept;
};
template <std::size_t Index, std::size_t Shard, std::size_t Shards, class... Kept, class First,
          class... Rest>
struct take_shard<Index, Shard, Shards, type_list<Kept...>, First, Rest...>
    : take_shard<Index + 1, Shard, Shards,
                 std::conditional_t<Index % Shards == Shard, type_list<Kept..., First>,
                                    type_list<Kept...>>,
                 Rest...> {};
template <std::size_t Shard, std::size_t Shards, class List>
struct shard;
template <std::size_t Shard, std::size_t Shards, class... Types>
struct shard<Shard, Shards, type_list<Types...>>
    : take_shard<0, Shard, Shards, type_list<>, Types...> {};
}  // namespace detail

/// Every `Shards`-th type of `List` from number `Shard` on, so that programs which instantiate code
/// for each type can be split into translation units that compile at the same time.
template <class List, std::size_t Shard, std::size_t Shards>
using shard_of = typename detail::shard<Shard, Shards, List>::type;

}  // namespace warpheap
