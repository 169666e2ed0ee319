#include "column.h"

namespace colvault {

void Block::Fill(std::uint32_t seed, Value modulus) {
  std::uint32_t x = seed * 2654435761u + 1;
  base_ = static_cast<Value>(seed % 64);
  zone_ = {INT64_MAX, INT64_MIN};
  for (auto& d : data_) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    d = static_cast<std::int16_t>(static_cast<Value>(x & 0x7fff) % modulus);
    const Value v = base_ + d;
    if (v < zone_.min) zone_.min = v;
    if (v > zone_.max) zone_.max = v;
    checksum_ = checksum_ * 31 + static_cast<std::uint32_t>(v);
  }
}

std::uint32_t Block::Verify() const noexcept {
  std::uint32_t sum = 0;
  for (int i = 0; i < kBlockRows; ++i) sum = sum * 31 + static_cast<std::uint32_t>(at(i));
  return sum == checksum_ ? 0 : 1;
}

Column::Column(std::string name, int blocks, Value modulus) : name_(std::move(name)), modulus_(modulus) {
  if (blocks <= 0) throw std::invalid_argument("column without blocks: " + name_);
  for (int i = 0; i < blocks; ++i) {
    blocks_.push_back(std::make_unique<Block>());
    blocks_.back()->Fill(static_cast<std::uint32_t>(i * 131 + modulus), modulus_);
  }
}

Table::Table(std::string name, int columns, int blocks) : name_(std::move(name)) {
  static constexpr const char* kNames[] = {"price", "amount", "customer", "region", "status", "shipped"};
  for (int i = 0; i < columns; ++i) {
    std::string cn = kNames[i % 6];
    by_name_.emplace(cn, columns_.size());
    columns_.push_back(std::make_unique<Column>(std::move(cn), blocks, 500 + 700 * i));
  }
  live_blocks_ = static_cast<std::uint32_t>(blocks);
}

std::shared_ptr<Table> Table::Create(const std::string& name, int columns, int blocks) {
  return std::shared_ptr<Table>(new Table(name, columns, blocks));
}

Column* Table::Find(const std::string& name) noexcept {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : columns_[it->second].get();
}

}  // namespace colvault
