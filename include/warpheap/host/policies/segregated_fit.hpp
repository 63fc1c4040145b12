// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/host/policies/segregated_policy.hpp"

namespace warpheap::host {

/// Segregated fit: one class for each power of two (section V-A of the host-based paper).
using segregated_fit = segregated_policy<size_index<0>, false>;

static_assert(placement_policy<segregated_fit> && vacatable_policy<segregated_fit>);

}  // namespace warpheap::host
