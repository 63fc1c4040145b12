// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What litmus tests are written with, and `expect_outcomes`, which runs one: in the explorer's
/// schedules, or as many instances at once on a GPU.

#include "litmus_words.hpp"
#if WARPHEAP_CUDA_MODEL
#include "litmus_instances.hpp"
#else
#include "litmus_schedules.hpp"
#endif
