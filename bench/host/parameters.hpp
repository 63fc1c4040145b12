// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Parameters are fields that are given. Each is declared once: here if several cases have it, else
/// in the file of its case. Command line, rows, list and report know of no others.

#include "bench/host/fields.hpp"
#include "warpheap/core/error.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace warpheap::bench {

/// The command line cannot be followed; the message says why, and what would be possible.
class usage_error : public error {
 public:
  using error::error;
};

inline constexpr std::uint64_t most_whole = std::numeric_limits<std::int64_t>::max();

/// What a parameter's values can be.
struct parameter_limits {
  /// The limits of whole numbers; a number with a fraction must be above `least`.
  std::uint64_t least = 0, most = most_whole;
  /// The texts that are allowed; none: any text.
  std::array<const char*, 2> choices{};
  /// A flag that sets every parameter of this alias; one of them alone sets the others, too.
  const char* alias = "";
  /// Its standard value is that of a heap in the backend (`backend_info::default_heap_bytes`).
  bool by_backend = false;
};

/// A parameter as `list` shows it and the command line takes it (with '-' for '_').
struct parameter_info : field_info {
  parameter_limits limits;
};

/// A parameter whose values are of type `T`: std::uint64_t, double, std::string_view, graph_file.
template <class T>
struct parameter : parameter_info {
  using value_type = T;
  /// The value for cases that do not have it.
  T absent;
  constexpr parameter(field_info declared, parameter_limits within = {}, T without = {})
      : parameter_info{declared, within}, absent(without) {
    kind = kind_of<T>();
  }
};

/// The values that a case is measured with.
class parameters {
 public:
  using value = std::variant<std::uint64_t, double, std::string>;

  template <class T>
  T operator[](const parameter<T>& what) const {
    const auto found = values_.find(what.name);
    if (found == values_.end()) return what.absent;
    if constexpr (std::is_same_v<T, std::string_view>) {
      return std::get<std::string>(found->second);
    } else if constexpr (std::is_same_v<T, graph_file>) {
      return {std::get<std::string>(found->second)};
    } else {
      return std::get<T>(found->second);
    }
  }

  /// Null if the case does not have it.
  const value* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

  void set(const parameter_info& what, value to) { values_[what.name] = std::move(to); }

 private:
  std::map<std::string, value> values_;
};

/// Parameters of several cases, in the order of the rows.
namespace given {

inline constexpr std::uint64_t most_runs = 1'000'000;

inline constexpr parameter<std::string_view> mode{
    {.name = "mode",
     .about = "'thread': every thread allocates; 'warp': lane 0 of every warp",
     .role = field_role::facet,
     .phrase = "one block per {}",
     .always = true},
    {.choices = {"thread", "warp"}},
    "thread"};
inline constexpr parameter<std::uint64_t> threads{{.name = "threads",
                                                   .unit = "threads",
                                                   .about = "threads of a launch",
                                                   .role = field_role::axis,
                                                   .phrase = "{} threads",
                                                   .always = true},
                                                  {.least = 1, .most = std::uint64_t{1} << 30}};
inline constexpr parameter<std::uint64_t> size_min{
    {.name = "size_min",
     .unit = "bytes",
     .about = "smallest size that is asked for",
     .role = field_role::facet,
     .phrase = "blocks from {}",
     .always = true},
    {.least = 1, .most = std::uint64_t{1} << 40, .alias = "size"}};
inline constexpr parameter<std::uint64_t> size_max{
    {.name = "size_max",
     .unit = "bytes",
     .about = "largest size that is asked for; page managers get pages of it",
     .role = field_role::axis,
     .phrase = "blocks of {}",
     .always = true},
    {.least = 1, .most = std::uint64_t{1} << 40, .alias = "size"}};
inline constexpr parameter<std::string_view> distribution{
    {.name = "distribution",
     .about = "of sizes from size_min to size_max: 'uniform' or 'powers' of two",
     .role = field_role::facet},
    {.choices = {"uniform", "powers"}},
    "uniform"};
// What is above the device's memory is refused with the memory's size.
inline constexpr parameter<std::uint64_t> heap_bytes{
    {.name = "heap_bytes",
     .unit = "bytes",
     .about = "size of the heap, metadata included",
     .role = field_role::axis,
     .phrase = "{} heap",
     .always = true},
    {.least = 1, .by_backend = true}};
inline constexpr parameter<std::uint64_t> iterations{
    {.name = "iterations",
     .unit = "runs",
     .about = "warm runs after the first one on a fresh heap",
     .role = field_role::detail,
     .always = true},
    {.least = 1, .most = most_runs}};
inline constexpr parameter<std::uint64_t> seed{
    {.name = "seed",
     .about = "everything drawn at random follows from it",
     .role = field_role::facet,
     .phrase = "seed {}",
     .always = true}};
inline constexpr parameter<double> free_percent{
    {.name = "free_percent",
     .unit = "%",
     .about = "share of the heap (or its pages) that is free at the start",
     .role = field_role::axis,
     .phrase = "{} free"},
    {.least = 0, .most = 100},
    100.0};
inline constexpr parameter<std::uint64_t> rounds{{.name = "rounds",
                                                  .unit = "rounds",
                                                  .about = "how often the case repeats its step",
                                                  .role = field_role::facet,
                                                  .phrase = "{} rounds"},
                                                 {.least = 1, .most = most_runs}};

}  // namespace given

}  // namespace warpheap::bench
