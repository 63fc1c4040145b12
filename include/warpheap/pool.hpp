// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Host-side pools of memory: all that a program needs that uses the default pool, over memory of
/// the host or over an upstream of its own. It includes the default policy only; the others are
/// headers of their own in host/policies/, and policies/registry.hpp includes all of them. Memory
/// of a CUDA device is in host/cuda/ (docs/host.md has examples).

#include "warpheap/host/policies/tlsf.hpp"
#include "warpheap/host/pools/stream_pool.hpp"
#include "warpheap/host/resources/pool_resource.hpp"
#include "warpheap/host/streams/stream.hpp"
#include "warpheap/host/upstreams/host_upstream.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap {

/// The default pool, for any number of threads and streams.
using pool = host::stream_pool<host::tlsf>;

}  // namespace warpheap
