// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/fields.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace warpheap::bench {

/// The outcome of one measurement, without what was asked for.
class measurement {
 public:
  std::string status = "ok";
  std::optional<std::string> reason;

  /// `What` is a field, or a parameter whose value is not the one that was given.
  template <class What>
  void add(const What& what, typename What::value_type value) {
    values_.emplace_back(&what, field_value(std::move(value)));
  }
  /// A value that may be null.
  template <class What>
  void add(const What& what, std::optional<typename What::value_type> value) {
    values_.emplace_back(&what, value ? field_value(std::move(*value)) : field_value());
  }

  /// What was measured, in the order in which it was added.
  const std::vector<std::pair<const field_info*, field_value>>& values() const { return values_; }

  /// The value of a field; nullopt if it is null or was not measured.
  template <class T>
  std::optional<T> get(const field<T>& what) const {
    for (const auto& [known, value] : values_) {
      if (known == &what && std::holds_alternative<T>(value)) return std::get<T>(value);
    }
    return {};
  }

 private:
  std::vector<std::pair<const field_info*, field_value>> values_;
};

}  // namespace warpheap::bench
