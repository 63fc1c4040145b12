// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/host/support.hpp"
#include "bench/workloads/shares.hpp"
#include "bench/workloads/work_generation/requests.hpp"

#include <chrono>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr field<summary> two_pass_ms{
    {.name = "two_pass_ms",
     .unit = "ms",
     .about =
         "the same without a manager: counts, prefix sum, one allocation, pieces, free; on the "
         "host's clock",
     .better = "less"}};
constexpr field<summary> two_pass_pool_ms{
    {.name = "two_pass_pool_ms",
     .unit = "ms",
     .about = "the same with memory of the driver's pool; where there is none, as two_pass_ms",
     .better = "less"}};

/// Where the memory comes from if there is no manager.
struct memory_source {
  void* (machine::*allocate)(std::size_t bytes);
  void (machine::*deallocate)(void* pointer, std::size_t bytes) noexcept;
};
constexpr memory_source from_device{&machine::allocate, &machine::deallocate};
constexpr memory_source from_pool{&machine::allocate_pooled, &machine::deallocate_pooled};

/// Memory for the duration of a scope.
class borrowed {
 public:
  borrowed(machine& on, const memory_source& source, std::size_t bytes)
      : on_(on), source_(source), bytes_(bytes), data_((on.*source.allocate)(bytes)) {}
  borrowed(const borrowed&) = delete;
  borrowed& operator=(const borrowed&) = delete;
  ~borrowed() { (on_.*source_.deallocate)(data_, bytes_); }
  void* get() const { return data_; }

 private:
  machine& on_;
  memory_source source_;
  std::size_t bytes_;
  void* data_;
};

/// Serves a batch by a prefix sum over the counts and one allocation, and frees it. Returns the
/// milliseconds that all of it takes except the examination. Counts errors in `wrong`.
double generate_in_two_passes(machine& on, const memory_source& source, const request_batch& batch,
                              std::uint64_t* addresses, tally& wrong) {
  using clock = std::chrono::steady_clock;
  using milliseconds = std::chrono::duration<double, std::milli>;
  const auto start = clock::now();
  clock::duration apart{};
  {
    // One more than there are counts: it becomes the sum of all of them.
    const std::uint64_t numbers = batch.count + 1;
    const borrowed offsets(on, source, numbers * sizeof(std::uint64_t));
    auto* const counts = static_cast<std::uint64_t*>(offsets.get());
    on.launch(batch.threads, work_counting{batch, counts});
    on.exclusive_scan(counts, numbers);
    std::uint64_t total = 0;
    on.to_host(&total, counts + batch.count, sizeof total);
    const borrowed pieces(on, source, total);
    on.launch(batch.threads,
              work_placing{batch.count, counts, reinterpret_cast<std::uint64_t>(pieces.get()),
                           addresses});
    const auto before = clock::now();
    write_blocks(on, batch, addresses);
    wrong.add(examine_blocks(on, batch, addresses, piece_alignment));
    apart = clock::now() - before;
  }
  return milliseconds(clock::now() - start - apart).count();
}

measurement measure_work_generation(const case_run& c) {
  const auto heap = open_heap(c);
  request_batch batch = batch_of(c.chosen, c.chosen[given::threads]);
  const block_table blocks(c.on, batch);
  tally wrong;
  tally wrong_in_two_passes;
  program_times times;
  std::vector<double> two_pass;
  std::vector<double> two_pass_pool;
  for (std::uint64_t run = 0; run <= c.chosen[given::iterations]; ++run) {
    batch.seed = c.chosen[given::seed] + run;
    times.malloc_ms.push_back(allocate(*heap, batch, blocks.addresses()));
    times.write_ms.push_back(write_blocks(c.on, batch, blocks.addresses()));
    const block_report report =
        examine_blocks(c.on, batch, blocks.addresses(), c.manager.alignment);
    wrong.add(report);
    times.bytes.push_back(static_cast<double>(report.bytes));
    times.free_ms.push_back(free_blocks(*heap, batch.count, blocks.addresses()));
    if (!c.manager.frees) heap->reset();
    two_pass.push_back(
        generate_in_two_passes(c.on, from_device, batch, blocks.addresses(), wrong_in_two_passes));
    two_pass_pool.push_back(
        generate_in_two_passes(c.on, from_pool, batch, blocks.addresses(), wrong_in_two_passes));
  }
  wrong_in_two_passes.expect_none("the way without a manager");
  measurement row;
  wrong.put_into(row);
  row.add(fields::malloc_ms, summarize_warm(times.malloc_ms));
  add_free(row, c.manager, times.free_ms);
  add_shares(row, c.manager, times);
  row.add(two_pass_ms, summarize_warm(two_pass));
  row.add(two_pass_pool_ms, summarize_warm(two_pass_pool));
  return row;
}

const case_registration work_generation{
    {.name = "work_generation",
     .about =
         "every thread asks for as many bytes as it will produce, against counts, a prefix sum "
         "and one allocation",
     .parameters = {{&given::threads, "65536"},
                    {&given::iterations, "25"},
                    {&given::size_min, "4"},
                    {&given::size_max, "64"},
                    {&given::heap_bytes, ""},
                    {&given::seed, "1"}},
     .needs = {&needs::bytes},
     .fields = {&two_pass_ms, &two_pass_pool_ms, &fields::whole_bandwidth,
                &fields::malloc_time_share, &fields::free_share},
     .run = measure_work_generation}};

}  // namespace

}  // namespace warpheap::bench
