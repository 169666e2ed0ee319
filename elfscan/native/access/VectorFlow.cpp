//===- VectorFlow.cpp - What the halves of vector registers hold ----------===//
//
// Owns the moves of two words at once, within a block: compilers make objects
// by them.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

namespace linemate {

/// Most blocks make none, and clearing all costs as much as a short block.
void FunctionFlow::forgetVectors() {
  if (AnyVector)
    Vectors = {};
  AnyVector = false;
}

/// Compilers store two words of a new object at once.
void FunctionFlow::vectorStep(const Op &O, const Effective &E,
                              uint32_t Origin) {
  AnyVector = true;
  std::array<Value, 2> &To = Vectors[O.VectorDst];
  switch (O.Vector) {
  case VectorMove::Low:
    To = {reg(O, O.VectorFrom), Value()};
    return;
  case VectorMove::High:
    To[1] = reg(O, O.VectorFrom);
    return;
  case VectorMove::Upper:
    To[1] = Vectors[O.VectorFrom][0];
    return;
  case VectorMove::Copy:
    To = Vectors[O.VectorFrom];
    return;
  case VectorMove::LowLoad:
  case VectorMove::HighLoad: {
    Op Half = O;
    Half.Width = 8;
    Value V = loaded(Half, E, Origin);
    if (O.Vector == VectorMove::LowLoad)
      To = {V, Value()};
    else
      To[1] = V;
    return;
  }
  case VectorMove::Load: {
    Op Half = O;
    Half.Width = 8;
    Half.Mem[0].Size = 8;
    Effective Next = E;
    Next.Where.Base += 8;
    To = {loaded(Half, E, Origin), loaded(Half, Next, Origin)};
    return;
  }
  case VectorMove::Unknown:
    To = {};
  }
}

} // namespace linemate
