#include "store.h"

namespace store {

class Plain final : public Codec {
public:
  uint64_t encode(const std::string &text) const override {
    uint64_t out = 0;
    for (char c : text)
      out = out * 131 + static_cast<unsigned char>(c);
    return out;
  }
  const char *name() const override { return "plain"; }
};

class Folded final : public Codec {
public:
  uint64_t encode(const std::string &text) const override {
    uint64_t out = 14695981039346656037ULL;
    for (char c : text) {
      out ^= static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
      out *= 1099511628211ULL;
    }
    return out;
  }
  const char *name() const override { return "folded"; }
};

static const Plain plain;
static const Folded folded;

const Codec &codec(int kind) {
  switch (kind & 1) {
  case 0:
    return plain;
  default:
    return folded;
  }
}

} // namespace store
