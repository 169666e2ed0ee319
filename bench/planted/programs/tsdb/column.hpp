// Columns of one chunk: fixed capacity, appended to by one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tsdb {

using Timestamp = std::int64_t;

template <typename T>
class Column {
public:
    explicit Column(std::size_t capacity) { values_.resize(capacity); }

    void set(std::size_t at, T value) { values_[at] = value; }
    T operator[](std::size_t at) const { return values_[at]; }
    std::size_t capacity() const { return values_.size(); }

    template <typename Fold, typename Acc>
    Acc fold(std::size_t first, std::size_t last, Acc acc, Fold fold) const {
        for (std::size_t i = first; i < last; ++i) acc = fold(acc, values_[i]);
        return acc;
    }

private:
    std::vector<T> values_;
};

}  // namespace tsdb
