// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <warpheap/any_heap.hpp>

/// The sum of the squares of the lanes' numbers, each in a block of its own.
int sum_of_squares(const warpheap::any_heap& heap, int lanes);
