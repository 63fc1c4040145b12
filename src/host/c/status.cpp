// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "status.hpp"

const char* warpheap_last_error(void) { return warpheap::host::last_error().c_str(); }
