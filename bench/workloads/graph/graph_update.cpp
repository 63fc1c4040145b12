// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/graph/measured_graph.hpp"
#include "bench/workloads/graph_init/csr.hpp"
#include "bench/workloads/graph_init/fields.hpp"
#include "warpheap/core/random.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace warpheap::bench {

namespace {

constexpr parameter<std::uint64_t> source_range{
    {.name = "source_range",
     .unit = "vertices",
     .about = "that the updates of a round change, another range each round; 0: all",
     .role = field_role::facet}};
constexpr field<double> build_ms{{.name = "build_ms",
                                  .unit = "ms",
                                  .about = "inserting all edges of the file at once",
                                  .better = "less"}};
constexpr field<summary> delete_ms{
    {.name = "delete_ms", .unit = "ms", .about = "deleting a batch", .better = "less"}};
constexpr field<std::uint64_t> triangles{{.name = "triangles",
                                          .unit = "triangles",
                                          .about = "of the graph in the file",
                                          .role = field_role::detail}};
constexpr field<double> triangles_ms{
    {.name = "triangles_ms", .unit = "ms", .about = "counting them", .better = "less"}};

graph_keys keys_of(const csr_graph& graph) {
  graph_keys keys;
  keys.reserve(graph.entries());
  for (std::uint32_t v = 0; v < graph.nodes(); ++v) {
    for (std::uint64_t i = graph.offsets[v]; i < graph.offsets[v + 1]; ++i) {
      keys.push_back(graph_data::edge_key(v, graph.neighbours[i]));
    }
  }
  return keys;
}

/// What the rounds insert and which of the edges they delete; depends only on the seed.
class update_stream {
 public:
  update_stream(const case_run& c, std::uint32_t vertices)
      : vertices_(vertices),
        batch_(c.chosen[dynamic_graphs::batch]),
        range_(
            static_cast<std::uint32_t>(std::min<std::uint64_t>(c.chosen[source_range], vertices))),
        random_(mix64(c.chosen[given::seed])) {
    if (range_ == 0) range_ = vertices;
    for (std::uint64_t round = 0; round < c.chosen[given::rounds]; ++round) {
      graph_keys& keys = insertions_.emplace_back();
      for (std::uint64_t i = 0; i < batch_; ++i) {
        const std::uint32_t source =
            place_in_round(first_of(round), random_.below(range_), vertices);
        keys.push_back(graph_data::edge_key(source, random_.below(vertices)));
      }
    }
  }

  const std::vector<graph_keys>& insertions() const { return insertions_; }

  /// As many existing edges as a batch has; some may be drawn more than once.
  graph_keys deletions(std::uint64_t round, const graph_keys& there) {
    const std::uint64_t first = first_of(round);
    const auto begin = std::lower_bound(there.begin(), there.end(), first << 32);
    // A range that would extend beyond the last vertex ends there.
    const auto end = std::lower_bound(begin, there.end(), (first + range_) << 32);
    graph_keys keys;
    const auto count = static_cast<std::uint32_t>(end - begin);
    for (std::uint64_t i = 0; count != 0 && i < batch_; ++i)
      keys.push_back(begin[random_.below(count)]);
    return keys;
  }

 private:
  std::uint32_t first_of(std::uint64_t round) const {
    return static_cast<std::uint32_t>(range_ == vertices_ ? 0 : round * range_ % vertices_);
  }

  std::uint32_t vertices_;
  std::uint64_t batch_;
  std::uint32_t range_;
  random_sequence random_;
  std::vector<graph_keys> insertions_;
};

/// The most targets that a vertex can ever have.
std::uint64_t most_targets(const csr_graph& graph, const update_stream& updates) {
  std::vector<std::uint64_t> degrees(graph.nodes());
  for (std::uint64_t v = 0; v < graph.nodes(); ++v) {
    degrees[v] = graph.offsets[v + 1] - graph.offsets[v];
  }
  for (const graph_keys& keys : updates.insertions()) {
    for (const std::uint64_t key : keys) ++degrees[key >> 32];
  }
  return *std::max_element(degrees.begin(), degrees.end());
}

measurement measure_graph_update(const case_run& c) {
  const std::string file(c.chosen[graph_path].path);
  const csr_graph source = read_csr(file);
  if (source.entries() == 0) throw usage_error(file + ": the graph has no edges");
  if (source.nodes() > 0xffff'fffe) {
    throw usage_error(file + ": has " + std::to_string(source.nodes()) +
                      " vertices, and at most 4294967294 are possible");
  }
  const auto vertices = static_cast<std::uint32_t>(source.nodes());
  graph_dump dump{std::string(c.chosen[dynamic_graphs::dump])};
  update_stream updates(c, vertices);
  const auto heap =
      open_heap(c, largest_block_of(c, [&] { return most_targets(source, updates); }));
  measurement row;
  tally wrong;
  with_layout(c, [&](auto layout) {
    measured_graph<layout> graph(c, *heap, vertices, dump);
    row.add(build_ms, graph.insert(keys_of(source)));
    graph.check();
    const auto counted = graph.triangles();
    std::vector<double> inserting;
    std::vector<double> deleting;
    for (std::uint64_t round = 0; round < c.chosen[given::rounds]; ++round) {
      inserting.push_back(graph.insert(updates.insertions()[round]));
      deleting.push_back(graph.erase(updates.deletions(round, graph.expected())));
    }
    row.add(dynamic_graphs::insert_ms, summarize_all(inserting));
    row.add(delete_ms, summarize_all(deleting));
    row.add(triangles_ms, counted.ms);
    row.add(triangles, counted.triangles);
    graph.put_into(row, wrong);
  });
  put_heap_into(row, wrong, *heap);
  row.add(nodes, source.nodes());
  row.add(entries, source.entries());
  row.add(largest_degree, source.largest_degree());
  return row;
}

const case_registration graph_update{
    {.name = "graph_update",
     .about = "a dynamic graph is built from a file; then each round inserts and deletes a batch",
     .parameters = dynamic_graphs::with_updates(
         {{&graph_path, ""}, {&dynamic_graphs::batch, "10000"}, {&source_range, "0"}}),
     .needs = {&needs::bytes, &needs::frees},
     .fields = {&build_ms, &dynamic_graphs::insert_ms, &delete_ms, &dynamic_graphs::pagerank_ms,
                &dynamic_graphs::update_bandwidth, &dynamic_graphs::update_malloc_share,
                &dynamic_graphs::update_free_share, &triangles_ms, &triangles,
                &dynamic_graphs::edges, &dynamic_graphs::refused, &dynamic_graphs::peak_bytes,
                &dynamic_graphs::leaked_blocks, &nodes, &entries, &largest_degree},
     .run = measure_graph_update}};

}  // namespace

}  // namespace warpheap::bench
