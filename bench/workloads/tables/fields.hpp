// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the cases over tables have in common.

#include "bench/host/support.hpp"
#include "bench/workloads/tables/csv.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpheap::bench {

namespace given {

inline constexpr parameter<std::uint64_t> rows{{.name = "rows",
                                                .unit = "rows",
                                                .about = "of a generated table",
                                                .role = field_role::axis,
                                                .phrase = "{} rows"},
                                               {.least = 1, .most = std::uint64_t{1} << 31}};
inline constexpr parameter<std::uint64_t> distinct_keys{
    {.name = "distinct_keys",
     .unit = "keys",
     .about = "that a generated table draws from",
     .role = field_role::axis,
     .phrase = "{} keys"},
    {.least = 1, .most = std::uint64_t{1} << 31}};
inline constexpr parameter<double> key_skew{
    {.name = "key_skew",
     .about = "exponent of Zipf's law for generated keys; below 0.001: all are equally likely",
     .role = field_role::facet,
     .phrase = "skew {}"},
    {.least = 0, .most = 8}};
inline constexpr parameter<std::uint64_t> page_bytes{
    {.name = "page_bytes",
     .unit = "bytes",
     .about = "of a page of rows, its head included",
     .role = field_role::facet,
     .phrase = "pages of {}"},
    {.least = 64, .most = 1 << 20}};
inline constexpr parameter<std::string_view> output{
    {.name = "output",
     .unit = "file",
     .about = "the result is written to it as CSV, and what found no room to FILE.lost; 'none': "
              "neither",
     .role = field_role::detail}};

}  // namespace given

namespace fields {

inline constexpr field<double> row_rate{{.name = "row_rate",
                                         .unit = "M/s",
                                         .about = "rows of the input, in millions per second",
                                         .better = "more"}};
inline constexpr field<double> bandwidth{
    {.name = "bandwidth",
     .unit = "GB/s",
     .about = "bytes of the input and of the result, each counted once, over the time",
     .better = "more"}};
inline constexpr field<double> malloc_share{
    {.name = "malloc_share",
     .unit = "share",
     .about = "the warps' time in malloc: a run of its own, on the multiprocessors' clock",
     .better = "less"}};
inline constexpr field<double> free_share{{.name = "free_share",
                                           .unit = "share",
                                           .about = "the time of the launches that free",
                                           .better = "less"}};
inline constexpr field<summary> baseline_ms{
    {.name = "baseline_ms",
     .unit = "ms",
     .about = "the same in two passes, without a manager: count, prefix sum, allocate, write; on "
              "the host's clock",
     .better = "less"}};
inline constexpr field<std::uint64_t> lost_rows{
    {.name = "lost_rows",
     .unit = "rows",
     .about = "of the result (of the input, where rows are grouped) that found no room, in one run",
     .role = field_role::detail}};
inline constexpr field<std::uint64_t> result_rows{{.name = "result_rows",
                                                   .unit = "rows",
                                                   .about = "of the result, in one run",
                                                   .role = field_role::detail}};
inline constexpr field<std::uint64_t> peak_bytes{{.name = "peak_bytes",
                                                  .unit = "bytes",
                                                  .about = "in use at once, at most",
                                                  .role = field_role::detail}};

}  // namespace fields

/// Adds the rates of an operator's run: the rows of its input, and the bytes that it must move at
/// least, over the whole time.
inline void add_rates(measurement& row, std::uint64_t rows, std::uint64_t bytes_moved, double ms) {
  row.add(fields::row_rate, static_cast<double>(rows) / ms / 1e3);
  row.add(fields::bandwidth, static_cast<double>(bytes_moved) / ms / 1e6);
}

/// Pages, heap, repetitions and output: what every case over tables has after its own parameters.
inline std::vector<case_parameter> with_pages(std::vector<case_parameter> own) {
  own.insert(own.end(), {{&given::page_bytes, "256"},
                         {&given::free_percent, "100"},
                         {&given::heap_bytes, ""},
                         {&given::iterations, "10"},
                         {&given::seed, "1"},
                         {&given::output, "none"}});
  return own;
}

/// The table that a parameter names: of a CSV file (`read_csv`), or what `generate` returns for
/// 'generated'. \throws as `read_csv`
template <class Generate>
table chosen_table(std::string_view named, const Generate& generate) {
  return named == "generated" ? generate() : read_csv(std::string(named));
}

/// The milliseconds on the host's clock that `act` takes; it must wait for what it launches.
template <class Act>
double host_ms(const Act& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return took.count();
}

/// \throws out_of_memory with the sizes if the machine has less memory than an operator over a
///   table of this many rows needs
inline void require_memory(machine& on, const std::string& what, std::uint64_t rows,
                           std::uint64_t bytes) {
  const machine_info& there = on.info();
  if (there.memory_bytes == 0 || bytes <= there.memory_bytes) return;
  throw out_of_memory(what + " of " + std::to_string(rows) + " rows takes " +
                      std::to_string(bytes) + " bytes beside the heap: " + there.device + " has " +
                      std::to_string(there.memory_bytes) + " bytes of memory");
}

/// Like `occupy`, with blocks of the size of pages.
inline std::unique_ptr<heap_fill> occupy_with_pages(const case_run& c, test_heap& heap) {
  parameters sized = c.chosen;
  for (const parameter_info* size : {&given::size_min, &given::size_max}) {
    sized.set(*size, c.chosen[given::page_bytes]);
  }
  return occupy({c.on, c.manager, sized}, heap);
}

/// \throws error if an operator that has finished left blocks in the heap, or if the manager's
///   invariants do not hold
inline void expect_empty(test_heap& heap, std::uint64_t blocks_before) {
  const heap_state state = heap.state();
  if (state.broken_invariants != 0) {
    throw error(std::to_string(state.broken_invariants) +
                " invariants of the manager do not hold at the end");
  }
  if (state.blocks_in_use == blocks_before) return;
  throw error(std::to_string(state.blocks_in_use) + " blocks are in use at the end, and " +
              std::to_string(blocks_before) + " were before");
}

/// A table in device memory.
struct device_table {
  std::uint64_t rows;
  device_array<std::uint32_t> keys;
  device_array<std::uint32_t> values;

  device_table(machine& on, const table& from)
      : rows(from.rows()), keys(on, from.keys), values(on, from.values) {}
  device_table(machine& on, std::uint64_t count)
      : rows(count), keys(on, count), values(on, count) {}

  columns data() const { return {keys.data(), values.data()}; }
};

}  // namespace warpheap::bench
