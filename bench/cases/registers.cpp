// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What malloc and free add to a kernel: registers, and memory that each of its threads takes. The
/// kernels are those of the case `alloc`; nothing is launched. Every kernel is compiled for blocks
/// of 1024 threads, so a call that wants more registers than such a thread has takes local memory.

#include "bench/host/support.hpp"

namespace warpheap::bench {

namespace {

constexpr parameter<std::string_view> call{
    {.name = "call",
     .about = "what each thread of the kernel calls once: 'malloc' or 'free'",
     .role = field_role::facet,
     .phrase = "a kernel that calls {}"},
    {.choices = {"malloc", "free"}},
    "malloc"};

constexpr field<std::uint64_t> registers{{.name = "registers",
                                          .unit = "registers",
                                          .about = "registers of a thread of the kernel",
                                          .better = "less"}};
constexpr field<std::uint64_t> idle_registers{
    {.name = "idle_registers",
     .unit = "registers",
     .about = "registers of a thread if the call does nothing",
     .role = field_role::detail}};
constexpr field<std::uint64_t> local_bytes{
    {.name = "local_bytes",
     .unit = "bytes",
     .about = "stack of a thread, and what its registers did not hold",
     .better = "less"}};
constexpr field<std::uint64_t> shared_bytes{{.name = "shared_bytes",
                                             .unit = "bytes",
                                             .about = "memory that the threads of a block share",
                                             .role = field_role::detail}};
constexpr field<std::uint64_t> constant_bytes{{.name = "constant_bytes",
                                               .unit = "bytes",
                                               .about = "constants that the kernel reads",
                                               .role = field_role::detail}};
constexpr field<std::uint64_t> block_threads{{.name = "block_threads",
                                              .unit = "threads",
                                              .about = "threads that a block can have",
                                              .role = field_role::detail}};

constexpr need resources{"resources",
                         "kernels of this machine take no registers: lanes of the CPU model are "
                         "functions of the host",
                         [](const wanted& w) { return w.backend.tells_resources; }};
constexpr need frees_to_call{"frees_to_call", needs::frees.reason, [](const wanted& w) {
                               return w.manager.frees || w.chosen[call] == "malloc";
                             }};

measurement measure_registers(const case_run& c) {
  const auto kernel = c.chosen[call] == "malloc" ? &call_resources::malloc : &call_resources::free;
  const kernel_resources taken = c.on.resources(c.manager.name).*kernel;
  measurement row;
  row.add(registers, taken.registers);
  row.add(idle_registers, (c.on.idle_resources().*kernel).registers);
  row.add(local_bytes, taken.local_bytes);
  row.add(shared_bytes, taken.shared_bytes);
  row.add(constant_bytes, taken.constant_bytes);
  row.add(block_threads, taken.block_threads);
  return row;
}

const case_registration registered{
    {.name = "registers",
     .about = "what a kernel takes that only mallocs, or only frees; nothing is launched",
     .parameters = {{&call, "malloc"}},
     .needs = {&resources, &needs::bytes, &frees_to_call},
     .fields = {&registers, &idle_registers, &local_bytes, &shared_bytes, &constant_bytes,
                &block_threads},
     .run = measure_registers}};

}  // namespace

}  // namespace warpheap::bench
