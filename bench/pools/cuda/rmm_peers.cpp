// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RMM's pool and arena behind the functions that `warpheap replay` calls, so that the same loop
// replays a trace on them and on our pools. Built where RMM is (WARPHEAP_RMM_ROOT).
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <rmm/mr/arena_memory_resource.hpp>
#include <rmm/mr/cuda_memory_resource.hpp>
#include <rmm/mr/pool_memory_resource.hpp>

#include "src/host/replay_pool.hpp"

namespace {

using namespace warpheap::host;
using resource = cuda::mr::any_resource<cuda::mr::device_accessible>;

struct peer {
  int device;
  resource memory;
};

thread_local std::string last_error;

template <class Call>
warpheap_status guarded(Call&& call) {
  try {
    call();
    return WARPHEAP_OK;
  } catch (const std::bad_alloc& e) {
    last_error = e.what();
    return WARPHEAP_OUT_OF_MEMORY;
  } catch (const std::exception& e) {
    last_error = e.what();
    return WARPHEAP_ERROR;
  }
}

resource make(const std::string& name, std::size_t initial, std::size_t limit) {
  constexpr std::size_t granule = 256;
  const std::size_t start = initial / granule * granule;
  const auto most = limit != 0 ? std::optional<std::size_t>(limit / granule * granule)
                               : std::optional<std::size_t>();
  if (name == "rmm_pool") {
    return rmm::mr::pool_memory_resource(rmm::mr::cuda_memory_resource{}, start, most);
  }
  // The arena has one size, which it takes at once.
  const auto arena = start != 0 ? std::optional<std::size_t>(start) : most;
  return rmm::mr::arena_memory_resource(rmm::mr::cuda_memory_resource{}, arena);
}

void use_device(int device) {
  if (const cudaError_t failed = cudaSetDevice(device); failed != cudaSuccess) {
    throw warpheap::error(std::string("the device cannot be used: ") + cudaGetErrorString(failed));
  }
}

replay_result run(peer& p, const warpheap_trace& trace, bool stop, std::uint32_t* latencies) {
  check_trace(trace);
  const auto stream_of = [](stream_id id) {
    return cuda::stream_ref{reinterpret_cast<cudaStream_t>(id)};
  };
  return replay(
      trace, {latencies, stop},
      [&](std::size_t bytes, stream_id stream) -> void* {
        try {
          return p.memory.allocate(stream_of(stream), bytes, 256);
        } catch (const std::bad_alloc&) {
          return nullptr;
        }
      },
      [&](void* memory, std::size_t bytes, stream_id stream) {
        p.memory.deallocate(stream_of(stream), memory, bytes, 256);
      },
      [](std::size_t) {});
}

}  // namespace

extern "C" {

WARPHEAP_API const char* warpheap_peer_last_error() { return last_error.c_str(); }

WARPHEAP_API warpheap_status warpheap_peer_create(const char* name, int device, std::size_t initial,
                                                  std::size_t limit, void** made) {
  return guarded([&] {
    use_device(device);
    *made = new peer{device, make(name, initial, limit)};
  });
}

WARPHEAP_API void warpheap_peer_destroy(void* made) { delete static_cast<peer*>(made); }

WARPHEAP_API warpheap_status warpheap_peer_replay(void* made, const warpheap_trace* trace, int stop,
                                                  std::uint32_t* latencies,
                                                  warpheap_replay_result* result) {
  return guarded([&] { *result = run(*static_cast<peer*>(made), *trace, stop != 0, latencies); });
}

WARPHEAP_API warpheap_status warpheap_peer_replay_threads(void* made, const warpheap_trace* traces,
                                                          std::size_t threads,
                                                          std::uint64_t* wall_ns,
                                                          std::uint64_t* failures) {
  return guarded([&] {
    peer& p = *static_cast<peer*>(made);
    replay_threads({traces, threads}, wall_ns, failures, [&](const warpheap_trace& trace) {
      use_device(p.device);
      return run(p, trace, false, nullptr).failures;
    });
  });
}

}  // extern "C"
