// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/managers/warpheap/chunk_supply.hpp"
#include "warpheap/managers/warpheap/config.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Whether a request of a class of the manager `warpheap` may return null: by hints, with a proof,
/// or because there is nowhere else to look. Exists for one call.
template <warpheap_config Config>
class warpheap_class_exhaustion {
 public:
  using supply = warpheap_supply<Config>;

  WARPHEAP_DEVICE warpheap_class_exhaustion(const supply& from, std::uint32_t of)
      : supply_(from), of_(of) {}

  /// Whether memory is exhausted, according to the multiprocessor's cache and the class's count:
  /// one look per class. A collective of those that call together, for any classes.
  WARPHEAP_DEVICE bool seem_out() const {
    const simt::group team = simt::coalesced(&supply_.whole());
    const bool seems = is_known();
    if (!team.any(seems)) return false;
    const simt::group same = team.match(seems ? of_ : supply::none);
    team.sync();  // as in `are_out`
    bool out = false;
    if (seems && same.is_leader()) {
      // This was true when the multiprocessor looked: at different moments, but after this lane's
      // last acquire. In between, the last chunks may have come to the class: its count says so.
      // A slot may have been offered in between, too, before the last chunk was taken: the look at
      // the offers is by loads, of which docs/decisions/0061 says what that leaves.
      // The count is read by a read-modify-write, which never returns an old value, and which is
      // made after the hints are known: in PTX's model, a hint does not synchronise, but it was
      // loaded from memory after the proof had arrived there, which is after everything that the
      // proof relies on.
      out = confirm();
    }
    team.sync();
    return team.shuffle(static_cast<std::uint32_t>(out), same.leader()) != 0;
  }

  /// The same for a caller without a team.
  WARPHEAP_DEVICE bool seems_out() const { return is_known() && confirm(); }

  /// Whether memory certainly was exhausted at a moment of the call: the class had no slot during
  /// the whole time between the two looks at it, and in between the heap had no chunk for it.
  WARPHEAP_DEVICE bool is_out() const {
    const std::uint64_t marks = supply_.classes().all_marked(of_);
    return marks != 0 && !supply_.offers().any(of_) && supply_.is_out() &&
           supply_.classes().all_marked(of_) == marks && !supply_.offers().any(of_) &&
           // Never an old value: a lane whose slots another one of its warp has freed has not
           // acquired what that one has seen.
           supply_.classes().are_marked_now(of_);
  }

  /// One look per class for those that call together.
  WARPHEAP_DEVICE bool are_out() const {
    const simt::group team = simt::coalesced(&supply_.whole());
    const simt::group same = team.match(of_);
    team.sync();  // what a member knows to be free is no less so for the leader
    const bool out = same.is_leader() && is_out();
    team.sync();
    return team.shuffle(static_cast<std::uint32_t>(out), same.leader()) != 0;
  }

  /// Whether the class has listed words, for lanes that are about to give up without a proof:
  /// unlike read-modify-writes, loads may see old values any number of times. A collective of those
  /// that call together, for any classes.
  WARPHEAP_DEVICE bool has_listed() const {
    const simt::group team = simt::coalesced(&supply_.whole());
    const simt::group same = team.match(of_);
    const bool listed = same.is_leader() && supply_.classes().open(of_).examine_any();
    team.sync();  // so that what the leader has acquired is seen by the others
    return team.shuffle(static_cast<std::uint32_t>(listed), same.leader()) != 0;
  }

 private:
  WARPHEAP_DEVICE bool is_known() const {
    return supply_.classes().seem_marked(of_) && supply_.offers().seem_gone(of_) &&
           supply_.seems_out();
  }
  WARPHEAP_DEVICE bool confirm() const {
    const bool out = supply_.classes().are_marked_now(of_) && !supply_.offers().any(of_);
    // Occasionally, the multiprocessor must look again, for the next request: a fence clears its
    // cache, which slows down every warp that it runs.
    if (simt::rough_noise() >> 29 == 0) simt::fence(simt::order::acquire);
    return out;
  }

  const supply& supply_;
  std::uint32_t of_;
};

WARPHEAP_END_NAMESPACE
