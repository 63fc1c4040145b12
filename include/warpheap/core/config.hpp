// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What every header needs to know about the compiler that reads it.
///
/// A translation unit is compiled for exactly one model of a SIMT machine: by nvcc for the CUDA
/// model, by any other C++20 compiler for the CPU model. Both models define the same names, so all
/// of them live in an inline namespace of the model: a program that links both has two distinct
/// entities and no violation of the one-definition rule.

#if __cplusplus < 202002L
#error "warpheap needs C++20: compile with -std=c++20; nvcc has it from version 12.4 on"
// A header that does not exist ends the compilation here, before hundreds of errors that follow.
#include <compile_with_std_cpp20>
#endif

#if defined(__CUDACC__)
#define WARPHEAP_CUDA_MODEL 1
#define WARPHEAP_MODEL cuda_model
/// A function that host code and lanes may call.
#define WARPHEAP_HD __host__ __device__
/// A function that only lanes may call.
#define WARPHEAP_DEVICE __device__
/// A function that only lanes may call, and seldom: kept apart, so that its registers are not
/// those of its callers.
#define WARPHEAP_RARE __device__ __noinline__
// nvcc offers its standard library for both sides under cuda::std.
#include <cuda/std/bit>
#define WARPHEAP_STD ::cuda::std
#else
#define WARPHEAP_CUDA_MODEL 0
#define WARPHEAP_MODEL cpu_model
#define WARPHEAP_HD
#define WARPHEAP_DEVICE
#define WARPHEAP_RARE
#include <bit>
#define WARPHEAP_STD ::std
#endif

// clang-format off
#define WARPHEAP_BEGIN_NAMESPACE namespace warpheap { inline namespace WARPHEAP_MODEL {
#define WARPHEAP_END_NAMESPACE } }
// clang-format on
