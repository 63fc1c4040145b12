// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "weak_memory.hpp"

#include "warpheap/core/hash.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace warpheap::runtime_detail {

namespace {

using simt::order;

bool bounds_hints(order o) {
  return o == order::acquire || o == order::acq_rel || o == order::seq_cst;
}
bool acquires(order o) { return bounds_hints(o) || o == order::acquire_but_hints; }
bool releases(order o) { return o == order::release || o == order::acq_rel || o == order::seq_cst; }

std::uint64_t in_memory(const void* word, std::uint32_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, word, bytes);
  return value;
}

template <class T>
void raise(std::vector<T>& into, const T* from, std::size_t count) {
  T* const out = into.data();
  for (std::size_t i = 0; i < count; ++i) out[i] = out[i] < from[i] ? from[i] : out[i];
}

}  // namespace

void weak_memory::begin(std::uint64_t seed) {
  random_ = random_sequence(mix64(seed ^ 0x77656d656d6f7279ull));
  // Some bugs need many old values at once, others a single one among new ones.
  const std::uint64_t drawn = random_.next();
  stale_share_ = (drawn & 1u) != 0 ? 160 : 40;
  constexpr std::array ages{hint_age::drawn, hint_age::drawn, hint_age::cached, hint_age::oldest};
  hints_ = ages[drawn >> 1 & 3u];
  if (++generation_ == 0) {  // after 2^32 schedules, slots of the first would seem to be in use
    std::fill(table_.begin(), table_.end(), slot{});
    generation_ = 1;
  }
  for (auto& of : views_) {
    std::fill_n(of.seen.begin(), words_, 0);
    std::fill_n(of.ordered.begin(), words_, 0);
    std::fill_n(of.acquirable.begin(), words_, 0);
    of.released = no_view;
    of.stale_in_a_row = 0;
  }
  std::fill_n(sequential_.begin(), words_, 0);
  words_ = 0;
  published_.assign(1, 0);  // the place `no_view`
}

void weak_memory::location::restart(std::uint64_t value, timestamp at) {
  count = 1;
  initial = {value, at, no_view, false};
  stores[0] = initial;
  line.at = no_line;
}

std::uint32_t weak_memory::location::open(std::uint32_t position) {
  if (count == recent_stores) {
    std::copy(stores.begin() + 1, stores.begin() + position, stores.begin());
    return position - 1;
  }
  std::copy_backward(stores.begin() + position, stores.begin() + count, stores.begin() + count + 1);
  ++count;
  return position;
}

weak_memory::slot& weak_memory::probe(std::uintptr_t word) {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = mix64(word) & mask;; at = (at + 1) & mask) {
    slot& here = table_[at];
    if (here.generation != generation_ || here.word == word) return here;
  }
}

void weak_memory::grow_table() {
  std::vector<slot> old(table_.size() * 2);
  old.swap(table_);
  for (const slot& entry : old) {
    if (entry.generation == generation_) probe(entry.word) = entry;
  }
}

void weak_memory::add_word() {
  if (++words_ <= locations_.size()) return;
  locations_.emplace_back();
  sequential_.push_back(0);
  for (auto& of : views_) {
    of.seen.push_back(0);
    of.ordered.push_back(0);
    of.acquirable.push_back(0);
  }
}

weak_memory::location& weak_memory::find(const void* word, std::uint32_t bytes) {
  // The size is part of the key: a word that is accessed in two sizes has a history for each, and
  // an access in one size restarts that of the other, as a plain one does.
  const auto key = reinterpret_cast<std::uintptr_t>(word) | (bytes == 4 ? 0u : 1u);
  slot* found = &probe(key);
  const std::uint64_t value = in_memory(word, bytes);
  if (found->generation == generation_) {
    location& known = locations_[found->index];
    store_record& last = known.newest();
    if (last.value != value) known.restart(value, last.at + step);
    return known;
  }
  const std::uint32_t index = words_;
  *found = {key, generation_, index};
  add_word();
  if (2 * std::size_t{words_} > table_.size()) grow_table();
  location& added = locations_[index];
  added.index = index;
  added.restart(value, 0);
  return added;
}

void weak_memory::join(std::vector<timestamp>& into, view_place from) const {
  if (from == no_view) return;
  raise(into, &published_[from + 1], static_cast<std::size_t>(published_[from]));
}

weak_memory::view_place weak_memory::keep(const std::vector<timestamp>& view) {
  const auto place = static_cast<view_place>(published_.size());
  published_.push_back(static_cast<timestamp>(words_));
  published_.insert(published_.end(), view.begin(), view.begin() + words_);
  return place;
}

weak_memory::view_place weak_memory::keep_joined(view_place a, view_place b) {
  if (a == no_view || a == b) return b;
  if (b == no_view) return a;
  if (published_[a] < published_[b]) std::swap(a, b);
  const auto place = static_cast<view_place>(published_.size());
  const auto count = static_cast<std::size_t>(published_[a]);
  published_.resize(place + 1 + count);
  std::copy_n(published_.begin() + a, count + 1, published_.begin() + place);
  for (std::size_t i = 1; i <= static_cast<std::size_t>(published_[b]); ++i) {
    published_[place + i] = std::max(published_[place + i], published_[b + i]);
  }
  return place;
}

std::uint32_t weak_memory::choose(lane_views& of, const location& in, timestamp floor) {
  const std::uint32_t newest = in.count - 1;
  std::uint32_t oldest = newest;
  while (oldest > 0 && in.stores[oldest - 1].at >= floor) --oldest;
  if (oldest == newest) return newest;
  if (of.stale_in_a_row == most_stale_in_a_row || (random_.next() & 255u) >= stale_share_) {
    of.stale_in_a_row = 0;
    return newest;
  }
  ++of.stale_in_a_row;
  return oldest + random_.below(newest - oldest);
}

void weak_memory::read(lane_views& reader, const location& in, const store_record& from, order o) {
  auto& seen = reader.seen[in.index];
  seen = std::max(seen, from.at);
  join(acquires(o) ? reader.seen : reader.acquirable, from.published);
  if (bounds_hints(o)) std::copy_n(reader.seen.begin(), words_, reader.ordered.begin());
}

void weak_memory::remark_older(const char* how, const location& in, std::uint64_t value) {
  char text[128];
  std::snprintf(text, sizeof text,
                "reads%s an older store of word %u: %#llx, where the newest is %#llx", how,
                in.index, static_cast<unsigned long long>(value),
                static_cast<unsigned long long>(in.stores[in.count - 1].value));
  simt::remark(text);
}

std::uint64_t weak_memory::load(std::uint32_t lane, const void* word, std::uint32_t bytes,
                                order o) {
  location& in = find(word, bytes);
  lane_views& reader = views_[lane];
  timestamp floor = reader.seen[in.index];
  if (o == order::seq_cst) floor = std::max(floor, sequential_[in.index]);
  const store_record& from = in.stores[choose(reader, in, floor)];
  if (from.at != in.newest().at && simt::traced()) remark_older("", in, from.value);
  read(reader, in, from, o);
  return from.value;
}

weak_memory::store_record weak_memory::oldest_hint(const location& in, timestamp floor) {
  if (in.initial.at >= floor) return in.initial;
  std::uint32_t k = 0;
  while (in.stores[k].at < floor) ++k;
  return in.stores[k];
}

weak_memory::store_record weak_memory::draw_hint(const location& in, const store_record& oldest) {
  const std::uint32_t newest = in.count - 1;
  if ((random_.next() & 255u) >= stale_share_) return in.stores[newest];
  std::uint32_t first = 0;
  while (in.stores[first].at < oldest.at) ++first;
  const bool is_kept = in.stores[first].at == oldest.at;
  const std::uint32_t older = newest - first + (is_kept ? 0 : 1);
  if (older == 0) return in.stores[newest];
  const std::uint32_t wanted = random_.below(older);
  return wanted == newest - first ? oldest : in.stores[first + wanted];
}

std::uint64_t weak_memory::hint(std::uint32_t lane, const void* word, std::uint32_t bytes) {
  location& in = find(word, bytes);
  const store_record oldest = oldest_hint(in, views_[lane].ordered[in.index]);
  const bool is_cached = hints_ == hint_age::cached && in.line.at >= oldest.at;
  const store_record from = is_cached                    ? in.line
                            : hints_ == hint_age::oldest ? oldest
                                                         : draw_hint(in, oldest);
  in.line = from;
  if (from.at != in.newest().at && simt::traced()) remark_older(", by a hint,", in, from.value);
  return from.value;
}

weak_memory::view_place weak_memory::publish(lane_views& writer, const location& in, timestamp at,
                                             order o, view_place before) {
  writer.seen[in.index] = at;
  writer.ordered[in.index] = at;
  if (o == order::seq_cst) sequential_[in.index] = std::max(sequential_[in.index], at);
  if (!releases(o)) return keep_joined(writer.released, before);
  const view_place own = keep(writer.seen);
  // The new view is the last one there, so what it continues is joined in place.
  if (before != no_view) {
    for (std::size_t i = 1; i <= static_cast<std::size_t>(published_[before]); ++i) {
      published_[own + i] = std::max(published_[own + i], published_[before + i]);
    }
  }
  return own;
}

void weak_memory::store(std::uint32_t lane, void* word, std::uint32_t bytes, std::uint64_t value,
                        order o) {
  location& in = find(word, bytes);
  lane_views& writer = views_[lane];
  timestamp floor = writer.seen[in.index];
  if (o == order::seq_cst) floor = std::max(floor, sequential_[in.index]);
  // The positions before the newest stores that the lane has not seen, except for those before
  // which nothing may come.
  std::array<std::uint32_t, recent_stores> earlier;
  std::uint32_t count = 0;
  for (std::uint32_t k = in.count - 1; k > 0 && in.stores[k - 1].at >= floor; --k) {
    const bool room = in.stores[k].at - in.stores[k - 1].at >= 2;
    if (!in.stores[k].follows_directly && room) earlier[count++] = k;
  }
  if (count != 0 && (random_.next() & 3u) == 0) {
    const std::uint32_t wanted = earlier[count == 1 ? 0 : random_.below(count)];
    if (simt::traced()) {
      char text[128];
      std::snprintf(text, sizeof text, "stores %#llx to word %u before the newest store, %#llx",
                    static_cast<unsigned long long>(value), in.index,
                    static_cast<unsigned long long>(in.newest().value));
      simt::remark(text);
    }
    const timestamp before = in.stores[wanted - 1].at;
    const timestamp at = before + (in.stores[wanted].at - before) / 2;
    const view_place published = publish(writer, in, at, o, no_view);
    in.stores[in.open(wanted)] = {value, at, published, false};
    return;
  }
  const timestamp at = in.newest().at + step;
  const view_place published = publish(writer, in, at, o, no_view);
  in.stores[in.open(in.count)] = {value, at, published, false};
  std::memcpy(word, &value, bytes);
}

void weak_memory::load_newest(std::uint32_t lane, const void* word, std::uint32_t bytes, order o) {
  location& in = find(word, bytes);
  read(views_[lane], in, in.newest(), o);
}

void weak_memory::update(std::uint32_t lane, void* word, std::uint32_t bytes, std::uint64_t value,
                         order o) {
  location& in = find(word, bytes);
  lane_views& both = views_[lane];
  const store_record before = in.newest();
  read(both, in, before, o);
  const timestamp at = before.at + step;
  const view_place published = publish(both, in, at, o, before.published);
  in.stores[in.open(in.count)] = {value, at, published, true};
  std::memcpy(word, &value, bytes);
}

void weak_memory::fence(std::uint32_t lane, order o) {
  lane_views& of = views_[lane];
  if (acquires(o)) raise(of.seen, of.acquirable.data(), words_);
  if (o == order::seq_cst) {
    raise(of.seen, sequential_.data(), words_);
    std::copy_n(of.seen.begin(), words_, sequential_.begin());
  }
  if (acquires(o)) std::copy_n(of.seen.begin(), words_, of.ordered.begin());
  if (releases(o)) of.released = keep(of.seen);
}

void weak_memory::synchronize(std::span<const std::uint32_t> lanes) {
  if (lanes.size() < 2) return;
  for (const auto view : {&lane_views::seen, &lane_views::ordered}) {
    auto& all = views_[lanes[0]].*view;
    for (const std::uint32_t lane : lanes.subspan(1)) {
      raise(all, (views_[lane].*view).data(), words_);
    }
    for (const std::uint32_t lane : lanes.subspan(1)) {
      std::copy_n(all.begin(), words_, (views_[lane].*view).begin());
    }
  }
}

}  // namespace warpheap::runtime_detail
