// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "warpheap/host/streams/stream.hpp"

namespace warpheap::host {

/// Something that names a stream: `stream_id`, a stream's handle (`cudaStream_t`), or an object
/// with a `get()` that returns one (`cuda::stream_ref`).
template <class Stream>
concept stream_like = std::same_as<Stream, stream_id> || std::is_pointer_v<Stream> ||
    requires(const Stream& stream) {
  {stream.get()};
  requires std::is_pointer_v<decltype(stream.get())>;
};

/// The `stream_id` by which the pools know the stream.
template <stream_like Stream>
stream_id id_of(const Stream& stream) {
  if constexpr (std::same_as<Stream, stream_id>) {
    return stream;
  } else if constexpr (std::is_pointer_v<Stream>) {
    // 1 is CUDA's other name for the legacy default stream.
    const auto handle = reinterpret_cast<std::uintptr_t>(stream);
    return stream_id{handle == 1 ? 0 : handle};
  } else {
    return id_of(stream.get());
  }
}

}  // namespace warpheap::host
