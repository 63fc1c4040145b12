// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// All that the cases share.

#include "bench/host/batch_times.hpp"
#include "bench/host/block_table.hpp"
#include "bench/host/case.hpp"
#include "bench/host/heap_fill.hpp"
#include "bench/host/large_block.hpp"
#include "bench/host/tally.hpp"
