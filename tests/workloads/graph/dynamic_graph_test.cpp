// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dynamic graph against a set of edges, in both layouts, with heaps that are large enough and
// heaps that are not.
#include "warpheap/workloads/graph/heap_runner.hpp"
#include "warpheap/workloads/graph/rmat.hpp"

#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/core/random.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"
#include "warpheap/warpheap.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <type_traits>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using graph::layout;
using graph::make_batch;
using keys = std::vector<std::uint64_t>;
using edge_set = std::set<std::uint64_t>;

template <class Layout>
class dynamic_graph : public testing::Test {
 protected:
  using runner_type = graph::heap_runner<heap<rw_malloc<>>>;
  using subject_type = graph::dynamic_graph<runner_type, Layout::value>;
};
using layouts = testing::Types<std::integral_constant<layout, layout::blocks>,
                               std::integral_constant<layout, layout::pages>>;
TYPED_TEST_SUITE(dynamic_graph, layouts);

keys listed(const edge_set& edges) { return {edges.begin(), edges.end()}; }

keys random_edges(random_sequence& random, std::uint32_t vertices, std::uint32_t sources,
                  std::size_t count) {
  keys drawn;
  for (std::size_t i = 0; i < count; ++i) {
    drawn.push_back(graph_data::edge_key(random.below(sources), random.below(vertices)));
  }
  return drawn;
}

void expect_empty(const heap<rw_malloc<>>& subject) {
  EXPECT_EQ(subject.stats().blocks_in_use, 0u);
  EXPECT_EQ(subject.stats().bytes_in_use, 0u);
  EXPECT_TRUE(subject.validate().violations.empty());
}

// Vertices with few targets (one lane each) and with many (a warp), duplicates, loops, edges that
// are there and edges that are not.
TYPED_TEST(dynamic_graph, is_the_set_of_its_edges) {
  const heap<rw_malloc<>> memory(machine(), 16_MiB);
  typename TestFixture::runner_type runner(memory);
  const std::uint32_t vertices = 1000;
  {
    typename TestFixture::subject_type graph(runner, vertices);
    edge_set expected;
    random_sequence random(5);
    for (const std::uint32_t sources : {1000u, 7u, 300u, 1000u, 3u}) {
      const auto fresh = make_batch(random_edges(random, vertices, sources, 2500), vertices);
      const std::size_t before = expected.size();
      expected.insert(fresh.keys.begin(), fresh.keys.end());
      const auto inserted = graph.insert(fresh);
      EXPECT_EQ(inserted.changed, expected.size() - before);
      EXPECT_TRUE(inserted.refused.empty());
      ASSERT_EQ(graph.edges(), listed(expected));
      // Half of the deletions are of edges that are there.
      keys gone = random_edges(random, vertices, sources, 600);
      const keys all = listed(expected);
      for (int i = 0; i < 600; ++i) {
        gone.push_back(all[random.below(static_cast<std::uint32_t>(all.size()))]);
      }
      std::uint64_t deleted = 0;
      const auto batch = make_batch(gone, vertices);
      for (const std::uint64_t key : batch.keys) deleted += expected.erase(key);
      EXPECT_EQ(graph.erase(batch).changed, deleted);
      ASSERT_EQ(graph.edges(), listed(expected));
    }
    EXPECT_GE(graph.block_bytes(), expected.size() * 4);
    EXPECT_EQ(graph.erase(make_batch(listed(expected), vertices)).changed, expected.size());
    EXPECT_EQ(graph.block_bytes(), 0u);
    expect_empty(memory);
    graph.insert(make_batch(listed(expected), vertices));
    EXPECT_EQ(graph.edges(), listed(expected));
  }
  expect_empty(memory);
}

TYPED_TEST(dynamic_graph, insertion_and_deletion_of_new_edges_restore_it) {
  const heap<rw_malloc<>> memory(machine(), 16_MiB);
  typename TestFixture::runner_type runner(memory);
  typename TestFixture::subject_type graph(runner, 500);
  random_sequence random(9);
  graph.insert(make_batch(random_edges(random, 500, 500, 3000), 500));
  const keys before = graph.edges();
  keys fresh;
  const keys drawn = make_batch(random_edges(random, 500, 20, 3000), 500).keys;
  std::set_difference(drawn.begin(), drawn.end(), before.begin(), before.end(),
                      std::back_inserter(fresh));
  EXPECT_EQ(graph.insert(make_batch(fresh, 500)).changed, fresh.size());
  EXPECT_EQ(graph.erase(make_batch(fresh, 500)).changed, fresh.size());
  EXPECT_EQ(graph.edges(), before);
}

// With every heap: what was not refused is there, nothing earlier is lost, and a second try after
// memory was freed inserts exactly the rest.
TYPED_TEST(dynamic_graph, loses_nothing_when_memory_is_exhausted) {
  for (const std::size_t bytes : {24_KiB, 40_KiB, 64_KiB, 96_KiB}) {
    const heap<rw_malloc<>> memory(machine(), bytes);
    typename TestFixture::runner_type runner(memory);
    const std::uint32_t vertices = 400;
    std::uint64_t refusals = 0;
    {
      typename TestFixture::subject_type graph(runner, vertices);
      edge_set expected;
      random_sequence random(bytes);
      keys refused;
      for (const std::uint32_t sources : {400u, 400u, 5u, 400u}) {
        const auto batch = make_batch(random_edges(random, vertices, sources, 2500), vertices);
        const auto result = graph.insert(batch);
        const edge_set denied(result.refused.begin(), result.refused.end());
        EXPECT_EQ(denied.size(), result.refused.size()) << "an edge is reported twice";
        std::uint64_t inserted = 0;
        for (const std::uint64_t key : batch.keys) {
          if (denied.contains(key)) {
            EXPECT_FALSE(expected.contains(key)) << "an edge that was there is refused";
          } else {
            inserted += expected.insert(key).second;
          }
        }
        EXPECT_EQ(result.changed, inserted);
        ASSERT_EQ(graph.edges(), listed(expected));
        refusals += denied.size();
        if (!result.refused.empty()) refused = result.refused;
      }
      // Frees three quarters, and then tries again.
      keys gone = listed(expected);
      gone.resize(gone.size() / 4 * 3);
      for (const std::uint64_t key : gone) expected.erase(key);
      EXPECT_EQ(graph.erase(make_batch(gone, vertices)).changed, gone.size());
      ASSERT_EQ(graph.edges(), listed(expected));
      const keys few(
          refused.begin(),
          refused.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(refused.size(), 8)));
      const auto again = graph.insert(make_batch(few, vertices));
      EXPECT_EQ(again.changed + again.refused.size(), few.size());
      expected.insert(few.begin(), few.end());
      for (const std::uint64_t key : again.refused) expected.erase(key);
      ASSERT_EQ(graph.edges(), listed(expected));
      EXPECT_TRUE(memory.validate().violations.empty());
    }
    EXPECT_GT(refusals, 0u) << bytes << " bytes are enough, so this tests nothing";
    expect_empty(memory);
  }
}

TYPED_TEST(dynamic_graph, counts_triangles_and_ranks) {
  const heap<rw_malloc<>> memory(machine(), 16_MiB);
  typename TestFixture::runner_type runner(memory);
  // A complete graph of many vertices (warps), a triangle beside it, loops, and a vertex alone.
  const std::uint32_t complete = race_checked ? 70 : 300;
  const std::uint32_t vertices = complete + 4;
  typename TestFixture::subject_type graph(runner, vertices);
  keys edges;
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    edges.push_back(graph_data::edge_key(a, b));
    edges.push_back(graph_data::edge_key(b, a));
  };
  for (std::uint32_t a = 0; a < complete; ++a) {
    for (std::uint32_t b = 0; b <= a; ++b) join(a, b);
  }
  join(complete, complete + 1);
  join(complete + 1, complete + 2);
  join(complete + 2, complete);
  const auto batch = make_batch(edges, vertices);
  EXPECT_EQ(batch.duplicates, complete);
  EXPECT_EQ(graph.insert(batch).changed, batch.keys.size());
  EXPECT_EQ(graph.triangles().triangles,
            std::uint64_t{complete} * (complete - 1) * (complete - 2) / 6 + 1);
  const auto ranks = graph.pagerank(0.85, 1e-12, 1000);
  double sum = 0;
  for (const double rank : ranks.of) sum += rank;
  EXPECT_NEAR(sum, 1, 1e-9);
  // By symmetry each vertex with targets has the same rank r, and the last one r0:
  // r0 = 0.15 / V + 0.85 r0 / V, r = r0 + 0.85 r.
  const double alone = 0.15 / vertices / (1 - 0.85 / vertices);
  EXPECT_NEAR(ranks.of.back(), alone, 1e-9);
  EXPECT_NEAR(ranks.of[0], alone / 0.15, 1e-9);
  EXPECT_NEAR(ranks.of[complete + 1], alone / 0.15, 1e-9);
}

TEST(edge_batch, drops_duplicates_and_what_is_out_of_range) {
  using graph_data::edge_key;
  const auto batch = make_batch(
      {edge_key(2, 1), edge_key(0, 9), edge_key(2, 1), edge_key(10, 0), edge_key(0, 10)}, 10);
  EXPECT_EQ(batch.keys, (keys{edge_key(0, 9), edge_key(2, 1)}));
  EXPECT_EQ(batch.duplicates, 1u);
  EXPECT_EQ(batch.out_of_range, 2u);
}

// Shares of the quarters, with the scrambling undone by counting degrees: the largest are far above
// the mean, and all vertices are in range.
TEST(rmat, has_hubs_and_depends_on_the_seed) {
  const int scale = 12;
  std::vector<std::uint32_t> degrees(1u << scale);
  std::uint64_t same = 0;
  const std::uint32_t count = 16u << scale;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t key = graph::rmat_edge(1, i, scale);
    ASSERT_LT(key >> 32, degrees.size());
    ASSERT_LT(static_cast<std::uint32_t>(key), degrees.size());
    ++degrees[key >> 32];
    same += key == graph::rmat_edge(2, i, scale);
  }
  // The most frequent source has a share of 0.76^12 of all edges.
  const double hub = *std::max_element(degrees.begin(), degrees.end());
  EXPECT_NEAR(hub / count, 0.0371, 0.003);
  EXPECT_LT(same, count / 100);
}

// A launch has more lanes than there are edges.
TEST(rmat, as_many_edges_are_written_as_were_asked_for) {
  constexpr std::uint64_t unwritten = ~std::uint64_t{0};
  const device_array<std::uint64_t> edges(64, unwritten);
  machine().launch({2, 32}, graph::generate_rmat{{1, 100, 40, 12, edges.get()}});
  const keys written = edges.read();
  for (std::uint64_t i = 0; i < written.size(); ++i) {
    EXPECT_EQ(written[i], i < 40 ? graph::rmat_edge(1, 100 + i, 12) : unwritten) << i;
  }
}

// In a graph of two vertices, the scrambling can only exchange them: each edge falls into the
// quarter (0, 0) with a chance of 0.57, or into (1, 1) if they are exchanged.
TEST(rmat, quarters_have_the_shares_of_graph500) {
  for (const std::uint64_t seed : {2, 3}) {
    const std::uint32_t count = 100000;
    double shares[2][2]{};
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t key = graph::rmat_edge(seed, i, 1);
      ASSERT_LT(key >> 32, 2u);
      ASSERT_LT(static_cast<std::uint32_t>(key), 2u);
      shares[key >> 32][key & 1] += 1.0 / count;
    }
    const auto first = graph::scrambled(0, seed, 1);
    const auto last = graph::scrambled(1, seed, 1);
    EXPECT_NEAR(shares[first][first], 0.57, 0.01) << seed;
    EXPECT_NEAR(shares[first][last], 0.19, 0.01) << seed;
    EXPECT_NEAR(shares[last][first], 0.19, 0.01) << seed;
    EXPECT_NEAR(shares[last][last], 0.05, 0.01) << seed;
  }
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
