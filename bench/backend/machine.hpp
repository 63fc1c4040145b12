// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the machines of both models have in common.

#include "bench/backend/catalog.hpp"
#include "bench/host/arguments.hpp"
#include "bench/kernel_list.hpp"
#include "bench/lanes/kernel.hpp"
#include "bench/lanes/resources.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

class local_machine : public bench::machine {
 public:
  local_machine(const device& on, const catalog& entries) : device_(on), catalog_(entries) {
    const simt::device_properties& found = on.properties();
    info_.device = found.name;
    info_.driver = found.driver;
    info_.toolkit = found.toolkit;
    info_.memory_bytes = found.memory_bytes;
    info_.resident_threads = found.resident_threads;
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
    return known(manager).open(device_, settings);
  }

  bench::call_resources resources(const std::string& manager) override {
    return known(manager).resources(device_);
  }
  bench::call_resources idle_resources() override {
    return lanes::resources_of<lanes::idle_handle>(device_);
  }

 private:
  const catalog_entry& known(const std::string& manager) const {
    for (const catalog_entry& entry : catalog_) {
      if (entry.info.name == manager) return entry;
    }
    throw invalid_argument(
        "'" + manager + "' is not a manager of this program; known managers: " +
        bench::names_of(catalog_, [](const catalog_entry& entry) { return entry.info.name; }));
  }

  std::vector<double> run(const std::type_info& kernel,
                          const std::vector<bench::launch_request>& launches) override {
    return lanes::run(kernels{}, device_, kernel, launches);
  }

  device device_;
  catalog catalog_;
  bench::machine_info info_;
};

}  // namespace backend
WARPHEAP_END_NAMESPACE
