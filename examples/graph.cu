// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA build of the same example.
#include "graph.cpp"
