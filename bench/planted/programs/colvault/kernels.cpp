#include "engine.h"

namespace colvault {

void KernelRegistry::Register(std::string name, Kernel::Fn fn) {
  if (fn == nullptr) throw std::invalid_argument("kernel without a function: " + name);
  kernels_.push_back(Kernel{std::move(name), fn, 0});
}

Kernel& KernelRegistry::Choose(const ZoneMap& zone, Value low, Value high) noexcept {
  std::size_t k = 0;
  if (zone.max < low || zone.min > high) {
    k = 2;
  } else if (zone.min >= low && zone.max <= high) {
    k = 1;
  }
  ++kernels_[k].uses;
  return kernels_[k];
}

void KernelRegistry::Dump() const {
  for (const auto& k : kernels_) CV_LOG(kInfo, "kernel %s used %u times", k.name.c_str(), k.uses);
}

}  // namespace colvault
