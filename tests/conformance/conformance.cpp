// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tests of one shard of the managers, see subjects.hpp.
#include "blocks_tests.hpp"
#include "churn_tests.hpp"
#include "divergence_tests.hpp"
#include "exhaustion_tests.hpp"
#include "heap_tests.hpp"
#include "sharing_tests.hpp"
