// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Runs of blocks where memory ends. What is free is known by arithmetic, and not by asking the
/// manager.

#include "any_manager.hpp"
#include "scenario.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Neighbours, on both sides of a boundary in the manager's maps, are asked for as one block, and
/// as blocks of their own. If a run is refused, so must be all that it was refused for:
/// - `run_or_singles`: of two that are free, both are served alone;
/// - `runs_or_singles`: the same where two lanes want both, at once or later;
/// - `runs_of_three`, `run_grows`: of three, one and the two that it leaves; the last of the three
///   is free from the start, or becomes free meanwhile;
/// - `run_becomes_free`: two that are freed one after the other are served as one, to a lane that
///   asks meanwhile, or to the one that asks later;
/// - `run_in_vain`, `run_in_vain_beside_small`: two that are freed together serve two lanes,
///   whatever a lane that wanted both has had in hand; one of them wants a block of the first size;
/// - `runs_of_warps`: of five, runs for lanes that share warps.
/// \param index of the first of them, when blocks of `bytes` are sorted by address
void add_run_cases(const any_setup& how, std::uint32_t bytes, std::size_t index,
                   std::vector<named_case>& cases);

/// `runs_in_one_place`: of nine neighbours, two are taken, and lanes of two warps want two and
/// three, and two and six. For managers that search first where the last run was.
void add_runs_in_one_place(const any_setup& how, std::uint32_t bytes, std::size_t index,
                           std::vector<named_case>& cases);

/// The same of three neighbours of which two, at a multiple of twice their size, are asked for with
/// that alignment, while another lane takes one. The pair is free from the start
/// (`aligned_pair_or_one`), or becomes free meanwhile (`aligned_pair_becomes_free`). For managers
/// that take alignments.
void add_aligned_run_cases(const any_setup& how, std::uint32_t bytes, std::size_t index,
                           std::vector<named_case>& cases);

}  // namespace verify
WARPHEAP_END_NAMESPACE
