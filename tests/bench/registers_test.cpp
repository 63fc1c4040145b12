// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The case `registers` on a machine that tells what its kernels take, and on the CPU model.
#include "bench/backend/cpu_machine.hpp"
#include "bench/host/arguments.hpp"
#include "bench/host/support.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace {

class telling_machine : public backend::cpu_machine {
 public:
  telling_machine() : cpu_machine(device::cpu(), {}) {}

  bench::call_resources resources(const std::string& manager) override {
    if (manager != "known") throw invalid_argument("no such manager");
    return {{40, 8, 16, 24, 1024}, {30, 0, 32, 0, 512}};
  }
  bench::call_resources idle_resources() override {
    return {{12, 0, 0, 0, 1024}, {10, 0, 0, 0, 1024}};
  }
};

bench::measurement run_registers(bench::machine& on, const char* call, bool tells, bool frees) {
  bench::manager_info manager;
  manager.name = "known";
  manager.frees = frees;
  bench::backend_info backend;
  backend.tells_resources = tells;
  const bench::case_entry& entry = *bench::find_case("registers");
  const bench::parameters chosen =
      bench::parse_parameters(entry, {std::string("--call=") + call}, 1 << 20);
  return bench::run_case(entry, backend, {on, manager, chosen});
}

std::map<std::string, std::uint64_t> numbers_of(const bench::measurement& row) {
  std::map<std::string, std::uint64_t> numbers;
  for (const auto& [field, value] : row.values()) {
    numbers[field->name] = std::get<std::uint64_t>(value);
  }
  return numbers;
}

using numbers = std::map<std::string, std::uint64_t>;

TEST(Registers, AreThoseOfTheKernelOfTheCall) {
  telling_machine on;
  const auto malloc = run_registers(on, "malloc", true, true);
  EXPECT_EQ(malloc.status, "ok");
  EXPECT_EQ(numbers_of(malloc), (numbers{{"registers", 40},
                                         {"idle_registers", 12},
                                         {"local_bytes", 8},
                                         {"shared_bytes", 16},
                                         {"constant_bytes", 24},
                                         {"block_threads", 1024}}));
  const auto free = run_registers(on, "free", true, true);
  EXPECT_EQ(free.status, "ok");
  EXPECT_EQ(numbers_of(free), (numbers{{"registers", 30},
                                       {"idle_registers", 10},
                                       {"local_bytes", 0},
                                       {"shared_bytes", 32},
                                       {"constant_bytes", 0},
                                       {"block_threads", 512}}));
}

TEST(Registers, OfFreeAreSkippedIfThereIsNone) {
  telling_machine on;
  EXPECT_EQ(run_registers(on, "malloc", true, false).status, "ok");
  const auto free = run_registers(on, "free", true, false);
  EXPECT_EQ(free.status, "skipped");
  EXPECT_EQ(free.reason, "cannot free single blocks");
}

TEST(Registers, TheCpuModelHasNone) {
  backend::cpu_machine on(device::cpu(), {});
  const auto row = run_registers(on, "malloc", device::tells_resources, true);
  EXPECT_EQ(row.status, "skipped");
  EXPECT_EQ(row.reason,
            "kernels of this machine take no registers: lanes of the CPU model are functions of "
            "the host");
  EXPECT_THROW(on.idle_resources(), invalid_argument);
}

}  // namespace
WARPHEAP_END_NAMESPACE
