// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The speed of memory that a manager handed out: neighbouring threads write and read the words of
/// one block, then those of the next. For comparison, the same words in one array.
#include "bench/host/support.hpp"
#include "bench/lanes/draw.hpp"
#include "bench/workloads/work_generation/requests.hpp"

#include <algorithm>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);
/// The bytes that GPUs fetch from memory at once.
constexpr std::uint64_t sector_bytes = 32;

constexpr field<summary> write_words_ms{{.name = "write_words_ms",
                                         .unit = "ms",
                                         .about = "every thread writes its word of the blocks",
                                         .better = "less"}};
constexpr field<summary> read_words_ms{{.name = "read_words_ms",
                                        .unit = "ms",
                                        .about = "every thread reads its word of the blocks",
                                        .better = "less"}};
constexpr field<double> write_ratio{
    {.name = "write_ratio",
     .unit = "times",
     .about = "median of writing, over that of the same words in one array",
     .better = "less"}};
constexpr field<double> read_ratio{
    {.name = "read_ratio",
     .unit = "times",
     .about = "median of reading, over that of the same words in one array",
     .better = "less"}};
constexpr field<double> sector_ratio{
    {.name = "sector_ratio",
     .unit = "times",
     .about = "sectors of 32 bytes that the blocks touch, over those of the array",
     .better = "less"}};

/// The words of all blocks that were served, in the order of the blocks.
struct word_list {
  std::vector<std::uint32_t> owners;
  std::vector<std::uint32_t> positions;
  /// Where the blocks would be in one array.
  std::vector<std::uint64_t> packed;

  word_list(const request_batch& batch, const std::vector<std::uint64_t>& addresses)
      : packed(batch.count) {
    for (std::uint64_t i = 0; i < batch.count; ++i) {
      packed[i] = owners.size() * word_bytes;
      if (addresses[i] == 0) continue;
      const std::uint64_t words = lanes::requested_bytes(batch, i) / word_bytes;
      for (std::uint64_t w = 0; w < words; ++w) {
        owners.push_back(static_cast<std::uint32_t>(i));
        positions.push_back(static_cast<std::uint32_t>(w));
      }
    }
  }
};

std::uint64_t count_sectors(const word_list& list, const std::vector<std::uint64_t>& addresses) {
  std::vector<std::uint64_t> sectors(list.owners.size());
  for (std::size_t i = 0; i < sectors.size(); ++i) {
    sectors[i] = (addresses[list.owners[i]] + list.positions[i] * word_bytes) / sector_bytes;
  }
  std::sort(sectors.begin(), sectors.end());
  return static_cast<std::uint64_t>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
}

struct access_times {
  std::vector<double> write_ms;
  std::vector<double> read_ms;
};

/// Writes and reads all words repeatedly, and counts words that differ from what was written.
access_times use_words(const case_run& c, const word_table& table, tally& wrong) {
  access_times times;
  const device_array<std::uint64_t> found(c.on, 2);
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    const auto salt = static_cast<std::uint32_t>(run);
    times.write_ms.push_back(c.on.launch(table.words, word_writing{table, salt}));
    times.read_ms.push_back(
        c.on.launch(table.words, word_reading{table, salt, found.data(), found.data() + 1}));
  }
  wrong.add_corrupted(found.to_host()[1]);
  return times;
}

measurement measure_access(const case_run& c) {
  const auto heap = open_heap(c);
  const block_table blocks(c.on, batch_of(c.chosen, c.chosen[given::threads]));
  const double malloc_ms = allocate(*heap, blocks.batch(), blocks.addresses());
  tally wrong;
  wrong.add(blocks.examine(c.manager.alignment, false));
  std::vector<std::uint64_t> addresses = blocks.addresses_on_host();
  const word_list words(blocks.batch(), addresses);
  if (words.owners.empty()) throw too_small_for(c, "a block");
  const device_array<std::uint32_t> owners(c.on, words.owners);
  const device_array<std::uint32_t> positions(c.on, words.positions);
  const word_table in_blocks{words.owners.size(), owners.data(), positions.data(),
                             blocks.addresses()};
  const access_times scattered = use_words(c, in_blocks, wrong);
  const double free_ms = free_blocks(*heap, blocks.batch().count, blocks.addresses());

  const device_array<std::uint32_t> array(c.on, words.owners.size());
  std::vector<std::uint64_t> packed = words.packed;
  for (std::uint64_t& at : packed) at += reinterpret_cast<std::uint64_t>(array.data());
  const device_array<std::uint64_t> packed_addresses(c.on, packed);
  word_table in_array = in_blocks;
  in_array.addresses = packed_addresses.data();
  tally wrong_in_array;
  const access_times together = use_words(c, in_array, wrong_in_array);
  wrong_in_array.expect_none("one array");

  measurement row;
  wrong.put_into(row);
  row.add(fields::malloc_ms, summarize_all({malloc_ms}));
  add_free(row, c.manager, {free_ms});
  const summary writing = summarize_warm(scattered.write_ms);
  const summary reading = summarize_warm(scattered.read_ms);
  row.add(write_words_ms, writing);
  row.add(read_words_ms, reading);
  row.add(write_ratio, writing.median / summarize_warm(together.write_ms).median);
  row.add(read_ratio, reading.median / summarize_warm(together.read_ms).median);
  row.add(sector_ratio, static_cast<double>(count_sectors(words, addresses)) /
                            static_cast<double>(count_sectors(words, packed)));
  return row;
}

const case_registration access{
    {.name = "access",
     .about =
         "threads write and read, a word each, the memory that was handed out, against one array",
     .parameters = with_sizes({{&given::threads, "131072"}, {&given::iterations, "100"}}, "64"),
     .needs = {&needs::bytes},
     .fields = {&write_words_ms, &read_words_ms, &write_ratio, &read_ratio, &sector_ratio},
     .run = measure_access}};

}  // namespace

}  // namespace warpheap::bench
