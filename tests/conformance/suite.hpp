// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Every conformance test. The file that includes it, tests/managers/NAME/conformance.cpp, has
/// before that
/// - `using subjects = type_list<...>` in warpheap::test: the managers, as the registry has them,
///   and other configurations of them;
/// - specialisations of `manager_traits` (traits.hpp) for those that need them.
/// The contracts that a manager models decide which suites it runs.

#include "conformance/aligning_tests.hpp"
#include "conformance/blocks_tests.hpp"
#include "conformance/capacity_tests.hpp"
#include "conformance/churn_tests.hpp"
#include "conformance/divergence_tests.hpp"
#include "conformance/exhaustion_tests.hpp"
#include "conformance/growth_tests.hpp"
#include "conformance/heap_tests.hpp"
#include "conformance/layout_tests.hpp"
#include "conformance/objects_tests.hpp"
#include "conformance/pages_tests.hpp"
#include "conformance/resizing_tests.hpp"
#include "conformance/sharing_tests.hpp"
#include "conformance/two_heaps_tests.hpp"
#include "conformance/warp_heaps_tests.hpp"
