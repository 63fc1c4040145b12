// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The fields of a row describe themselves: each is declared once, here or in the file of its case,
/// and `list` prints the declarations. The tool and the report know of no field beside them.

#include "bench/host/statistics.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace warpheap::bench {

/// What a field is for.
enum class field_role {
  identity,  ///< what was measured where, and how that ended
  axis,      ///< a parameter that a figure may have as x
  facet,     ///< a parameter that the rows of one line have in common
  detail,    ///< told in tables alone
  result,    ///< what was measured
};

enum class field_kind { text, integer, number, flag, summary, graph };

/// A value of a row; `monostate` stands for null.
using field_value = std::variant<std::monostate, bool, std::uint64_t, double, std::string, summary>;

/// The name of a graph's file.
struct graph_file {
  std::string_view path;
};

struct field_info {
  const char* name;
  const char* unit = "";
  const char* about = "";
  field_role role = field_role::result;
  /// How a title says a value, which stands for the `{}`; empty: the value with its unit.
  const char* phrase = "";
  /// "less" or "more", for results of which one is better.
  const char* better = "";
  /// Every row has it, if only as null.
  bool always = false;
  /// Set by `field` and `parameter`.
  field_kind kind = field_kind::text;
};

template <class T>
constexpr field_kind kind_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return field_kind::flag;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return field_kind::integer;
  } else if constexpr (std::is_same_v<T, double>) {
    return field_kind::number;
  } else if constexpr (std::is_same_v<T, summary>) {
    return field_kind::summary;
  } else if constexpr (std::is_same_v<T, graph_file>) {
    return field_kind::graph;
  } else {
    return field_kind::text;
  }
}

/// A field whose values are of type `T`. Constants of the program: rows and cases refer to them.
template <class T>
struct field : field_info {
  using value_type = T;
  constexpr explicit field(field_info declared) : field_info(declared) { kind = kind_of<T>(); }
};

/// Fields of several cases.
namespace fields {

inline constexpr field<std::uint64_t> null_returns{
    {.name = "null_returns",
     .unit = "requests",
     .about = "that returned null although memory was available, over all runs",
     .always = true}};
inline constexpr field<std::uint64_t> corrupted{
    {.name = "corrupted",
     .unit = "blocks",
     .about = "whose contents changed, that overlapped or were not aligned",
     .always = true}};
inline constexpr field<summary> malloc_ms{{.name = "malloc_ms",
                                           .unit = "ms",
                                           .about = "malloc, one launch",
                                           .better = "less",
                                           .always = true}};
inline constexpr field<summary> free_ms{{.name = "free_ms",
                                         .unit = "ms",
                                         .about = "free, one launch",
                                         .better = "less",
                                         .always = true}};
inline constexpr field<summary> null_free_ms{
    {.name = "null_free_ms",
     .unit = "ms",
     .about = "free of as many null pointers, one launch: the least that a launch of frees takes",
     .better = "less"}};
inline constexpr field<std::uint64_t> blocks{
    {.name = "blocks", .unit = "blocks", .about = "blocks of the full heap"}};
inline constexpr field<double> fill_ms{
    {.name = "fill_ms", .unit = "ms", .about = "filling the heap, all launches"}};
inline constexpr field<std::uint64_t> refilled_blocks{
    {.name = "refilled_blocks", .unit = "blocks", .about = "handed out after what was freed"}};
inline constexpr field<double> refill_ms{
    {.name = "refill_ms", .unit = "ms", .about = "handing them out"}};
inline constexpr field<bool> half_in_one_block{
    {.name = "half_in_one_block",
     .about = "whether the heap, all free again, serves half of itself in one block; null: not "
              "claimed"}};
inline constexpr field<double> longest_ms{
    {.name = "longest_ms", .unit = "ms", .about = "the longest single launch", .better = "less"}};
inline constexpr field<double> utilization{{.name = "utilization",
                                            .unit = "share",
                                            .about = "bytes handed out over the heap's",
                                            .better = "more"}};

}  // namespace fields

}  // namespace warpheap::bench
