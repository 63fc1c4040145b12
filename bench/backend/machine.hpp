// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The machine of one model.

#include "bench/backend/catalog.hpp"
#include "bench/host/device_array.hpp"
#include "bench/lanes/blocks.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

class local_machine final : public bench::machine {
 public:
  local_machine(const device& on, const catalog& entries) : device_(on), catalog_(entries) {
    const simt::device_properties& found = on.properties();
    info_.backend = found.backend;
    info_.device = found.name;
    info_.driver = found.driver;
    info_.toolkit = found.toolkit;
    info_.memory_bytes = found.memory_bytes;
    info_.has_clock = simt::has_clock;
  }

  const bench::machine_info& info() const override { return info_; }

  void* allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  void deallocate(void* pointer, std::size_t bytes) noexcept override {
    device_.deallocate(pointer, bytes);
  }
  void to_host(void* host, const void* on_device, std::size_t bytes) override {
    device_.copy_to_host(host, on_device, bytes);
  }
  void to_device(void* on_device, const void* host, std::size_t bytes) override {
    device_.copy_to_device(on_device, host, bytes);
  }
  void fill(void* on_device, std::uint8_t byte, std::size_t bytes) override {
    device_.fill(on_device, byte, bytes);
  }

  std::unique_ptr<bench::test_heap> open(const std::string& manager,
                                         const bench::heap_settings& settings) override {
    for (const catalog_entry& entry : catalog_) {
      if (entry.info.name == manager) return entry.open(device_, settings);
    }
    throw invalid_argument("'" + manager + "' is no manager of this program");
  }

  void write_blocks(const bench::request_batch& batch, const std::uint64_t* addresses) override {
    device_.launch(in_strides(batch.count), lanes::write_blocks{batch, addresses});
    device_.synchronize();
  }

  bench::block_report examine_blocks(const bench::request_batch& batch,
                                     const std::uint64_t* addresses, std::uint64_t alignment,
                                     bool contents) override {
    const bench::device_array<bench::block_report> report(*this, 1);
    device_.launch(in_strides(batch.count),
                   lanes::examine_blocks{batch, addresses, alignment, contents, report.data()});
    device_.synchronize();
    return report.to_host().front();
  }

  double write_adjacencies(const bench::adjacency_table& table) override {
    return device_.time(simt::grid::covering(table.nodes), lanes::write_adjacencies{table});
  }

  std::uint64_t count_wrong_adjacencies(const bench::adjacency_table& table) override {
    const bench::device_array<std::uint64_t> wrong(*this, 1);
    device_.launch(simt::grid::covering(table.nodes),
                   lanes::count_wrong_adjacencies{table, wrong.data()});
    device_.synchronize();
    return wrong.to_host().front();
  }

 private:
  /// No more lanes than can be resident, so that each adds up a share of what it finds.
  simt::grid in_strides(std::uint64_t count) const {
    const std::uint64_t resident = device_.properties().resident_threads;
    return simt::grid::covering(count < resident ? count : resident);
  }

  device device_;
  catalog catalog_;
  bench::machine_info info_;
};

}  // namespace backend
WARPHEAP_END_NAMESPACE
