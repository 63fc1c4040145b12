// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/graph_init/csr.hpp"

#include "bench/host/parameters.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace warpheap::bench {
namespace {

/// A path with three vertices: 0 - 1 - 2.
struct csr_bytes {
  std::string magic{"WHCSR\0\0\1", 8};
  std::vector<std::uint64_t> head{3, 4};
  std::vector<std::uint64_t> offsets{0, 1, 3, 4};
  std::vector<std::uint32_t> neighbours{1, 0, 2, 1};

  std::string text() const {
    return magic + bytes_of(head) + bytes_of(offsets) + bytes_of(neighbours);
  }

 private:
  template <class T>
  static std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
  }
};

class Csr : public testing::Test {
 protected:
  std::string store(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }
  /// What is wrong with a file of these bytes, without the file's name.
  std::string refusal(const std::string& bytes) const {
    try {
      read_csr(store(bytes));
    } catch (const usage_error& refused) {
      const std::string text = refused.what();
      return text.starts_with(path_ + ": ") ? text.substr(path_.size() + 2) : text;
    }
    return {};
  }
  ~Csr() override { std::filesystem::remove(path_); }

  const std::string path_ =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".csr";
};

TEST_F(Csr, ReadsAGraph) {
  const csr_graph graph = read_csr(store(csr_bytes{}.text()));
  EXPECT_EQ(graph.nodes(), 3u);
  EXPECT_EQ(graph.entries(), 4u);
  EXPECT_EQ(graph.largest_degree(), 2u);
  EXPECT_EQ(graph.offsets, (std::vector<std::uint64_t>{0, 1, 3, 4}));
  EXPECT_EQ(graph.neighbours, (std::vector<std::uint32_t>{1, 0, 2, 1}));
}

TEST_F(Csr, ReadsAGraphWithoutAnything) {
  csr_bytes empty;
  empty.head = {0, 0};
  empty.offsets = {0};
  empty.neighbours.clear();
  const csr_graph graph = read_csr(store(empty.text()));
  EXPECT_EQ(graph.nodes(), 0u);
  EXPECT_EQ(graph.largest_degree(), 0u);
}

TEST_F(Csr, RefusesAFileThatIsNotThere) {
  EXPECT_THROW(read_csr("/no/such/file.csr"), usage_error);
}

TEST_F(Csr, RefusesOtherFiles) {
  EXPECT_EQ(refusal("%%MatrixMarket matrix coordinate pattern"),
            "does not start with WHCSR, version 1");
  EXPECT_EQ(refusal("WHCSR"), "has 5 bytes; the head alone has 24");
  csr_bytes newer;
  newer.magic[7] = '\2';
  EXPECT_EQ(refusal(newer.text()), "does not start with WHCSR, version 1");
}

TEST_F(Csr, RefusesFilesOfTheWrongLength) {
  const std::string whole = csr_bytes{}.text();
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1)),
            "has 71 bytes, which is not what 3 nodes and 4 entries need");
  EXPECT_EQ(refusal(whole + '\0'), "has 73 bytes, which is not what 3 nodes and 4 entries need");
  csr_bytes huge;
  huge.head = {~std::uint64_t{0}, ~std::uint64_t{0}};
  EXPECT_EQ(refusal(huge.text()),
            "has 72 bytes, which is not what 18446744073709551615 nodes and "
            "18446744073709551615 entries need");
}

TEST_F(Csr, RefusesOffsetsOutOfOrder) {
  csr_bytes wrong;
  wrong.offsets = {1, 1, 3, 4};
  EXPECT_EQ(refusal(wrong.text()), "offset 0 is 1 instead of 0");
  wrong.offsets = {0, 3, 1, 4};
  EXPECT_EQ(refusal(wrong.text()), "offset 2 is 1, below the one before it, 3");
  wrong.offsets = {0, 1, 3, 3};
  EXPECT_EQ(refusal(wrong.text()), "the last offset is 3 instead of 4, the number of entries");
}

TEST_F(Csr, RefusesNeighboursThatAreNotVertices) {
  csr_bytes wrong;
  wrong.neighbours = {1, 0, 3, 1};
  EXPECT_EQ(refusal(wrong.text()), "entry 2 is vertex 3, of 3 vertices");
}

}  // namespace
}  // namespace warpheap::bench
