// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/workloads/tables/csv.hpp"

#include "bench/host/parameters.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

namespace warpheap::bench {

namespace {

/// The fields of a CSV file, one after another (RFC 4180; `next` returns them with their quotes).
class csv_fields {
 public:
  explicit csv_fields(const std::string& path) : path_(path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) refuse("cannot be opened");
    const std::streamoff bytes = in.tellg();
    if (bytes < 0) refuse("cannot be read");
    content_.resize(static_cast<std::size_t>(bytes));
    in.seekg(0);
    in.read(content_.data(), bytes);
    if (!in) refuse("cannot be read");
  }

  bool at_end() const { return at_ == content_.size(); }
  /// Whether the last field ended its line.
  bool line_ended() const { return line_ended_; }

  std::string_view next() {
    if (line_ended_) ++line_;
    const std::size_t begin = at_;
    bool quoted = false;
    while (at_ < content_.size() && (quoted || (content_[at_] != ',' && content_[at_] != '\n'))) {
      if (content_[at_] == '"') quoted = !quoted;
      ++at_;
    }
    if (quoted) refuse("line " + std::to_string(line_) + ": a quote is never closed");
    std::string_view field(content_.data() + begin, at_ - begin);
    line_ended_ = at_ == content_.size() || content_[at_] == '\n';
    if (at_ < content_.size()) ++at_;
    if (line_ended_ && field.ends_with('\r')) field.remove_suffix(1);
    return field;
  }

  std::uint32_t number(std::string_view field, const std::string& column) const {
    std::uint32_t value = 0;
    const char* const end = field.data() + field.size();
    const auto [stop, problem] = std::from_chars(field.data(), end, value);
    if (problem == std::errc() && stop == end) return value;
    refuse("line " + std::to_string(line_) + ": " + column + " is '" + std::string(field) +
           "'; whole numbers from 0 to 4294967295 can be used");
  }

  std::size_t line() const { return line_; }

  [[noreturn]] void refuse(const std::string& why) const { throw usage_error(path_ + ": " + why); }

 private:
  std::string path_;
  std::string content_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  bool line_ended_ = true;
};

struct column_choice {
  std::string file, key, value;

  explicit column_choice(const std::string& named) {
    const std::size_t second = named.rfind(':');
    const std::size_t first =
        second == std::string::npos || second == 0 ? second : named.rfind(':', second - 1);
    if (first == std::string::npos || second == 0) {
      throw usage_error("'" + named +
                        "' does not name a table; FILE:KEY:VALUE names a CSV file and two of its "
                        "columns");
    }
    file = named.substr(0, first);
    key = named.substr(first + 1, second - first - 1);
    value = named.substr(second + 1);
  }
};

std::size_t find_column(const csv_fields& file, const std::vector<std::string>& header,
                        const std::string& name) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found != header.end()) return static_cast<std::size_t>(found - header.begin());
  std::string known;
  for (const std::string& column : header) known += (known.empty() ? "" : ", ") + column;
  file.refuse("has no column '" + name + "'; its columns are " + known);
}

}  // namespace

table read_csv(const std::string& named) {
  const column_choice chosen(named);
  csv_fields file(chosen.file);
  if (file.at_end()) file.refuse("is empty; its first line must name the columns");
  std::vector<std::string> header;
  do {
    header.emplace_back(file.next());
  } while (!file.line_ended());
  const std::size_t key = find_column(file, header, chosen.key);
  const std::size_t value = find_column(file, header, chosen.value);
  table read;
  while (!file.at_end()) {
    std::size_t fields = 0;
    do {
      const std::string_view field = file.next();
      if (fields == key) read.keys.push_back(file.number(field, chosen.key));
      if (fields == value) read.values.push_back(file.number(field, chosen.value));
      ++fields;
    } while (!file.line_ended());
    if (fields != header.size()) {
      file.refuse("line " + std::to_string(file.line()) + " has " + std::to_string(fields) +
                  " fields and the first line has " + std::to_string(header.size()));
    }
  }
  return read;
}

}  // namespace warpheap::bench
