// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only the driver's error for a lack of memory is one of memory; after every other, callers learn
// what the driver says, and nothing is lost. Over a driver of the tests' own, so without a GPU.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "fake_driver.hpp"
#include "message_of.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/host/c/pool.h"
#include "warpheap/host/cuda/driver_allocator.hpp"
#include "warpheap/host/cuda/events.hpp"
#include "warpheap/host/cuda/malloc_upstream.hpp"
#include "warpheap/host/cuda/virtual_memory_upstream.hpp"

namespace warpheap::host::cuda {
namespace {

const std::vector<CUresult> other_errors = {CUDA_ERROR_ILLEGAL_ADDRESS,
                                            CUDA_ERROR_LAUNCH_FAILED,
                                            CUDA_ERROR_INVALID_VALUE,
                                            CUDA_ERROR_INVALID_DEVICE,
                                            CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                            CUDA_ERROR_DEINITIALIZED};

class driver_errors : public testing::Test {
 protected:
  ~driver_errors() override {
    fake.refusals.clear();
    EXPECT_EQ(fake.strays, 0) << "calls while another device may be current";
    EXPECT_TRUE(fake.contexts.empty()) << "the thread is left with another device";
    fake.contexts.clear();
    fake.strays = 0;
  }

  void refuse(const std::string& function, CUresult error, int after = 0) {
    fake.refusals[function] = {error, after};
  }
  void expect_nothing_held() {
    EXPECT_TRUE(fake.blocks.empty());
    EXPECT_TRUE(fake.addresses.empty());
    EXPECT_TRUE(fake.handles.empty());
    EXPECT_TRUE(fake.mapped.empty());
    EXPECT_TRUE(fake.events.empty());
  }

  fake_driver& fake = fake_driver::get();
};

TEST_F(driver_errors, only_a_lack_of_memory_is_null_from_malloc) {
  malloc_upstream source(0);
  refuse("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(source.allocate(1_MiB), nullptr);
  for (const CUresult error : other_errors) {
    refuse("cuMemAlloc", error);
    EXPECT_THROW(source.allocate(1_MiB), driver_error) << error;
  }
  refuse("cuMemAlloc", CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(test::message_of<driver_error>([&] { source.allocate(1_MiB); }),
            "cannot allocate device memory: an illegal memory access was encountered");
  expect_nothing_held();
}

TEST_F(driver_errors, only_a_lack_of_memory_is_null_from_malloc_async) {
  malloc_async_upstream source(0);
  refuse("cuMemAllocAsync", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(source.allocate(1_MiB), nullptr);
  refuse("cuMemAllocAsync", CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_THROW(source.allocate(1_MiB), driver_error);
  fake.refusals.clear();
  refuse("cuStreamSynchronize", CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(test::message_of<driver_error>([&] { source.allocate(1_MiB); }),
            "cannot wait for memory of the driver's pool: an illegal memory access was "
            "encountered");
  expect_nothing_held();
}

TEST_F(driver_errors, only_a_lack_of_memory_is_null_from_the_drivers_allocators) {
  for (const auto kind : {driver_allocator::kind::malloc, driver_allocator::kind::malloc_async}) {
    driver_allocator pool(0, kind);
    const std::string function =
        kind == driver_allocator::kind::malloc ? "cuMemAlloc" : "cuMemAllocAsync";
    refuse(function, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(pool.try_allocate(1_MiB, 1, stream_id::none), nullptr);
    EXPECT_EQ(pool.stats().failures, 1u);
    refuse(function, CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_THROW(pool.try_allocate(1_MiB, 1, stream_id::none), driver_error);
    EXPECT_EQ(pool.stats().blocks, 0u);
  }
}

TEST_F(driver_errors, virtual_memory_leaves_nothing_mapped) {
  virtual_memory_upstream source(0);
  for (const char* function :
       {"cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
    const int after = std::string(function) == "cuMemCreate" ? 2 : 0;
    refuse(function, CUDA_ERROR_OUT_OF_MEMORY, after);
    EXPECT_EQ(source.allocate(8_MiB), nullptr) << function;
    expect_nothing_held();
    for (const CUresult error : other_errors) {
      refuse(function, error, after);
      EXPECT_THROW(source.allocate(8_MiB), driver_error) << function << ' ' << error;
      expect_nothing_held();
    }
    fake.refusals.clear();
  }
  EXPECT_EQ(source.allocate(2_GiB), nullptr) << "more than the device has";
}

TEST_F(driver_errors, virtual_memory_keeps_what_a_region_had) {
  virtual_memory_upstream source(0);
  void* const region = source.allocate(4_MiB);
  ASSERT_NE(region, nullptr);
  source.decommit(region, 2_MiB);
  refuse("cuMemCreate", CUDA_ERROR_ILLEGAL_ADDRESS, 1);
  EXPECT_THROW(source.extend(region, 4_MiB, 8_MiB), driver_error);
  EXPECT_EQ(fake.mapped.size(), 1u);
  EXPECT_THROW(source.commit(region, 2_MiB), driver_error);
  refuse("cuMemGetInfo", CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_THROW(static_cast<void>(source.available_bytes()), driver_error);
  fake.refusals.clear();
  refuse("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_FALSE(source.extend(region, 4_MiB, 8_MiB));
  EXPECT_FALSE(source.commit(region, 2_MiB));
  fake.refusals.clear();
  EXPECT_TRUE(source.commit(region, 2_MiB));
  EXPECT_TRUE(source.extend(region, 4_MiB, 8_MiB));
  EXPECT_EQ(fake.mapped.size(), 6u);
  source.deallocate(region, 12_MiB);
  expect_nothing_held();
}

// After an error of the device, no event would ever say that it has happened.
TEST_F(driver_errors, end_every_wait_for_an_event) {
  {
    events source(0);
    const event_handle event = source.record(stream_id{0x100});
    ASSERT_NE(event, nullptr);
    refuse("cuEventQuery", CUDA_ERROR_NOT_READY);
    EXPECT_FALSE(source.happened(event));
    EXPECT_FALSE(source.wait_until(event, std::chrono::steady_clock::now()));
    for (const CUresult error : other_errors) {
      refuse("cuEventQuery", error);
      EXPECT_TRUE(source.happened(event)) << error;
    }
    source.recycle(event);
  }
  expect_nothing_held();
}

TEST_F(driver_errors, make_the_caller_wait_for_what_no_event_can_tell) {
  {
    events source(0);
    for (const char* function : {"cuEventCreate", "cuEventRecord"}) {
      for (const CUresult error : other_errors) {
        refuse(function, error);
        const int waits = fake.waits;
        const event_handle event = source.record(stream_id{0x100});
        EXPECT_EQ(event, nullptr) << function << ' ' << error;
        EXPECT_EQ(fake.waits, waits + 1) << "now everything has happened";
        EXPECT_TRUE(source.happened(event));
      }
      fake.refusals.clear();
    }
    EXPECT_EQ(fake.events.size(), 1u) << "the one that was not recorded serves again";
    const int waits = fake.waits;
    const event_handle event = source.record(stream_id{0x100});
    EXPECT_NE(event, nullptr);
    EXPECT_EQ(fake.events.size(), 1u);
    source.make_wait(stream_id{0x200}, event);
    EXPECT_EQ(fake.waits, waits);
    refuse("cuStreamWaitEvent", CUDA_ERROR_INVALID_VALUE);
    source.make_wait(stream_id{0x200}, event);
    EXPECT_EQ(fake.waits, waits + 1) << "where the stream cannot wait, the caller does";
    source.recycle(event);
    // This driver has no event of all streams; one stream always exists.
    EXPECT_EQ(source.record_absent(stream_id{0x100}), nullptr);
    EXPECT_EQ(fake.waits, waits + 2);
    const event_handle of_the_default = source.record_absent(stream_id::legacy_default);
    EXPECT_NE(of_the_default, nullptr);
    EXPECT_EQ(fake.waits, waits + 2);
    source.recycle(of_the_default);
  }
  expect_nothing_held();
}

TEST_F(driver_errors, mean_that_a_stream_may_be_captured) {
  events source(0);
  EXPECT_FALSE(source.is_captured(stream_id{0x100}));
  refuse("cuStreamIsCapturing", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_TRUE(source.is_captured(stream_id{0x100}));
  EXPECT_FALSE(source.is_captured(stream_id::none)) << "there is none";
}

TEST_F(driver_errors, leave_the_device_that_the_thread_had) {
  const auto other = reinterpret_cast<CUcontext>(std::uintptr_t{0x2000});
  fake.contexts = {other};
  {
    virtual_memory_upstream source(0);
    refuse("cuMemCreate", CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_THROW(source.allocate(8_MiB), driver_error);
    fake.refusals.clear();
    void* const region = source.allocate(8_MiB);
    EXPECT_EQ(fake.contexts, std::vector{other});
    source.deallocate(region, 8_MiB);
    events recorded(0);
    recorded.recycle(recorded.record(stream_id::legacy_default));
  }
  EXPECT_EQ(fake.contexts, std::vector{other});
  fake.contexts.clear();
}

TEST_F(driver_errors, do_not_happen_to_memory_that_is_set_aside) {
  {
    virtual_memory_upstream source(0);
    void* const region = source.allocate(8_MiB);
    ASSERT_NE(region, nullptr);
    const std::size_t before = source.available_bytes();
    source.set_aside(region, 4_MiB);
    EXPECT_EQ(fake.mapped.size(), 2u);
    EXPECT_EQ(fake.handles.size(), 4u) << "kept for what comes";
    EXPECT_EQ(source.available_bytes(), before + 4_MiB);
    refuse("cuMemCreate", CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_TRUE(source.extend(region, 8_MiB, 2_MiB));
    EXPECT_FALSE(source.commit(region, 4_MiB)) << "one page is left";
    EXPECT_EQ(fake.mapped.size(), 3u);
    fake.refusals.clear();
    EXPECT_TRUE(source.commit(region, 4_MiB));
    source.set_aside(region, 2_MiB);
    source.deallocate(region, 10_MiB);
    EXPECT_EQ(fake.handles.size(), 1u);
  }
  expect_nothing_held();
}

TEST_F(driver_errors, reach_callers_of_the_c_interface) {
  for (const char* upstream : {"cuda_malloc", "cuda_malloc_async", "virtual_memory"}) {
    warpheap_pool* pool = nullptr;
    ASSERT_EQ(warpheap_pool_create("tlsf", upstream, 0, nullptr, &pool), WARPHEAP_OK)
        << warpheap_last_error();
    void* memory = nullptr;
    const auto allocate = [&] { return warpheap_pool_allocate(pool, 1_MiB, 1, 0, &memory); };
    for (const char* function : {"cuMemAlloc", "cuMemAllocAsync", "cuMemCreate"}) {
      refuse(function, CUDA_ERROR_OUT_OF_MEMORY);
    }
    EXPECT_EQ(allocate(), WARPHEAP_OUT_OF_MEMORY) << upstream;
    for (auto& [function, refusal] : fake.refusals) refusal.error = CUDA_ERROR_ILLEGAL_ADDRESS;
    EXPECT_EQ(allocate(), WARPHEAP_ERROR) << upstream;
    const std::string said = warpheap_last_error();
    EXPECT_NE(said.find(": an illegal memory access was encountered"), std::string::npos) << said;
    fake.refusals.clear();
    EXPECT_EQ(allocate(), WARPHEAP_OK) << upstream;
    EXPECT_EQ(warpheap_pool_check(pool), WARPHEAP_OK);
    EXPECT_EQ(warpheap_pool_deallocate(pool, memory, 0), WARPHEAP_OK);
    warpheap_pool_destroy(pool);
    expect_nothing_held();
  }
}

}  // namespace
}  // namespace warpheap::host::cuda
