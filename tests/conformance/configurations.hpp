// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/type_list.hpp"

#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Whether the variants of a manager run the suites, too. Builds with a sanitizer leave them out,
/// for time: compiling takes most of it. `./dev nightly` has builds that do not.
inline constexpr bool with_variants = WARPHEAP_TEST_VARIANTS;

/// The configurations of a manager that run its suites: those of `Always`, in which each value of
/// each setting occurs that takes a path of its own, and those of `Variants`, which combine them
/// otherwise.
template <class Always, class Variants>
using configurations =
    std::conditional_t<with_variants, decltype(Always::append(Variants{})), Always>;

}  // namespace test
WARPHEAP_END_NAMESPACE
