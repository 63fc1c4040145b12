// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "warpheap/core/align.hpp"
#include "warpheap/host/policies/tlsf.hpp"

namespace warpheap::host {

/// Slabs for small blocks, another policy for the rest (the hybrid pool of the host-based paper,
/// section V-C).
///
/// A request of at most 8 granules is served from a slab: 256 granules, at a multiple of that size,
/// cut into objects of one size with one bit for each. Slabs come from `Large` and go back as soon
/// as they are empty: that policy works in constant time, so that keeping empty slabs would only
/// hold memory back. Everything else, and requests for an alignment above the granule, go to
/// `Large`.
///
/// Invariants: those of `Large`; P1: a slab's count of free objects is that of its bits; P2: a slab
/// is in the list of its size if and only if it has a free object, and no slab is empty; P3: a slab
/// is one block of `Large`.
///
/// Complexity: that of `Large`, and O(1) for an object.
template <class Large>
class slabs_over {
 public:
  using index = block_table::index;

  static constexpr bool truncates = false;
  static constexpr bool aligns = true;
  static constexpr std::size_t spare_percent = Large::spare_percent;

  static constexpr std::size_t region_for(std::size_t bytes) { return bytes; }

  explicit slabs_over(policy_options options)
      : granule_(options.granule_bytes), slab_bytes_(slab_granules * granule_), large_(options) {}

  void add_region(extent region) { large_.add_region(region); }
  void remove_region(address base) { large_.remove_region(base); }
  bool region_is_free(address base) const { return large_.region_is_free(base); }
  std::size_t free_at_end(address base) const { return large_.free_at_end(base); }
  void extend_region(address base, std::size_t bytes) { large_.extend_region(base, bytes); }

  bool make_room() { return large_.make_room(); }
  void vacate(extent part) { large_.vacate(part); }
  void fill(extent part) { large_.fill(part); }
  template <class Visitor>
  void for_each_unused(Visitor&& visit) const {
    large_.for_each_unused(visit);
  }

  extent allocate(std::size_t bytes, std::size_t alignment, effort how) {
    const std::size_t size_class = ceil_div(bytes, granule_);
    if (size_class <= largest_class && alignment <= granule_) {
      if (const extent object = allocate_object(size_class, how)) return object;
    }
    return large_.allocate(bytes, alignment, how);
  }

  std::size_t deallocate(address base) {
    const index which = slabs_.find(slab_of(base));
    if (which == block_table::none) return large_.deallocate(base);
    slab& s = slab_at(which);
    const std::size_t object = object_at(which, base);
    if (object == no_object) return 0;
    s.free[object / 64] |= std::uint64_t{1} << object % 64;
    if (++s.free_count == 1) lists_.push(slabs_, s.size_class, which);
    const std::size_t bytes = s.size_class * granule_;
    if (s.free_count == objects_of(s.size_class)) {
      lists_.remove(slabs_, s.size_class, which);
      large_.deallocate(slabs_[which].base);
      slabs_.forget(slabs_.take_back(slabs_[which].base));
    }
    return bytes;
  }

  std::size_t truncate(address, std::size_t) { return 0; }

  extent block_at(address base) const {
    const index which = slabs_.find(slab_of(base));
    if (which == block_table::none) return large_.block_at(base);
    if (object_at(which, base) == no_object) return {};
    return {base, slab_at(which).size_class * granule_};
  }

  template <class Visitor>
  void for_each_block(Visitor&& visit) const {
    large_.for_each_block([&](extent block, bool used) {
      const index which = used ? slabs_.find(block.base) : block_table::none;
      if (which == block_table::none) {
        visit(block, used);
        return;
      }
      const slab& s = slab_at(which);
      const std::size_t bytes = s.size_class * granule_;
      const std::size_t objects = objects_of(s.size_class);
      for (std::size_t object = 0; object < objects; ++object) {
        visit(extent{block.base + object * bytes, bytes}, !is_free(s, object));
      }
      const std::size_t filled = objects * bytes;
      if (filled != block.bytes) visit(extent{block.base + filled, block.bytes - filled}, false);
    });
  }

  std::optional<std::string> check() const {
    if (auto wrong = large_.check()) return wrong;
    std::size_t found = 0;
    std::size_t with_room = 0;
    std::optional<std::string> wrong;
    large_.for_each_block([&](extent block, bool used) {
      const index which = used ? slabs_.find(block.base) : block_table::none;
      if (which == block_table::none) return;
      ++found;
      const slab& s = slab_at(which);
      std::size_t free_count = 0;
      for (const std::uint64_t word : s.free) free_count += std::popcount(word);
      const std::string which_slab = "the slab at " + to_text(block.base);
      if (free_count != s.free_count)
        wrong = "P1: " + which_slab + " counts its free objects wrong";
      if (s.free_count == objects_of(s.size_class)) wrong = "P2: " + which_slab + " is empty";
      if (block.bytes != slab_bytes_) wrong = "P3: " + which_slab + " is not as large as a slab";
      with_room += s.free_count != 0;
    });
    if (!wrong && found != slabs_.used()) wrong = "P3: a slab is not a block";
    std::size_t listed = 0;
    for (std::size_t size_class = 1; size_class <= largest_class; ++size_class) {
      for (index which = lists_.head(size_class); which != block_table::none;
           which = slabs_[which].list_next, ++listed) {
        if (slab_at(which).size_class != size_class) wrong = "P2: a slab is in a wrong list";
      }
    }
    if (!wrong && listed != with_room) wrong = "P2: a slab with room is in no list";
    return wrong;
  }

 private:
  static constexpr std::size_t slab_granules = 256;
  static constexpr std::size_t largest_class = 8;
  static constexpr std::size_t no_object = slab_granules;

  struct slab {
    std::size_t size_class;
    std::size_t free_count;
    std::array<std::uint64_t, slab_granules / 64> free;
  };

  static constexpr std::size_t objects_of(std::size_t size_class) {
    return slab_granules / size_class;
  }
  static bool is_free(const slab& s, std::size_t object) {
    return (s.free[object / 64] >> object % 64 & 1) != 0;
  }

  address slab_of(address base) const { return align_down(base, slab_bytes_); }

  slab& slab_at(index which) { return data_[block_table::number_of(which)]; }
  const slab& slab_at(index which) const { return data_[block_table::number_of(which)]; }

  // The object handed out that starts at `base`, or no_object.
  std::size_t object_at(index which, address base) const {
    const slab& s = slab_at(which);
    const std::size_t bytes = s.size_class * granule_;
    const std::size_t offset = base - slabs_[which].base;
    const std::size_t object = offset / bytes;
    const bool is_object = offset % bytes == 0 && object < objects_of(s.size_class);
    return is_object && !is_free(s, object) ? object : no_object;
  }

  extent allocate_object(std::size_t size_class, effort how) {
    index which = lists_.head(size_class);
    if (which == block_table::none) {
      which = new_slab(size_class, how);
      if (which == block_table::none) return {};
    }
    slab& s = slab_at(which);
    std::size_t word = 0;
    while (s.free[word] == 0) ++word;
    const std::size_t object = word * 64 + std::countr_zero(s.free[word]);
    s.free[word] &= s.free[word] - 1;
    if (--s.free_count == 0) lists_.remove(slabs_, size_class, which);
    const std::size_t bytes = size_class * granule_;
    return {slabs_[which].base + object * bytes, bytes};
  }

  index new_slab(std::size_t size_class, effort how) {
    // First the books, which may fail: the large block would be lost.
    if (!slabs_.make_room(1)) return block_table::none;
    if (data_.size() < slabs_.size() + 2) data_.resize(2 * slabs_.size() + 2);
    const extent block = large_.allocate(slab_bytes_, slab_bytes_, how);
    if (!block) return block_table::none;
    const index which = slabs_.add_region(block);
    slabs_.hand_out(which);
    slab& s = slab_at(which);
    s.size_class = size_class;
    s.free_count = objects_of(size_class);
    for (std::size_t word = 0; word < s.free.size(); ++word) {
      const std::size_t before = word * 64;
      const std::size_t count =
          s.free_count > before ? std::min<std::size_t>(s.free_count - before, 64) : 0;
      s.free[word] = count == 0 ? 0 : ~std::uint64_t{0} >> (64 - count);
    }
    lists_.push(slabs_, size_class, which);
    return which;
  }

  std::size_t granule_;
  std::size_t slab_bytes_;
  Large large_;
  block_table slabs_;
  std::vector<slab> data_;
  free_lists<largest_class + 1> lists_;
};

using slabs_over_tlsf = slabs_over<tlsf>;

static_assert(placement_policy<slabs_over_tlsf>);

}  // namespace warpheap::host
