//===- Naps.cpp - How long a function sleeps that says so in its frame ----===//

#include "Naps.h"

#include <algorithm>

namespace linemate {

namespace {

constexpr int64_t Word = 8;
constexpr int64_t Second = 1'000'000'000; // nanoseconds
constexpr int64_t MaxSeconds = INT64_MAX / Second - 1;

} // namespace

void Naps::stored(int64_t At, uint32_t Size, const Value &V, uint16_t Order) {
  bool IsNumber = V.isNumber() && V.isExact() && !V.IsAddress;
  Stores.push_back({At, Size, Order, IsNumber, IsNumber ? V.Base : 0});
}

Naps::Known Naps::last(int64_t At, const Call &C, int64_t &Number) const {
  const Store *Found = nullptr;
  for (const Store &S : Stores)
    if (S.At < At + Word && S.At + int64_t(S.Size) > At && S.Order <= C.Order &&
        (!Found || S.Order >= Found->Order))
      Found = &S;
  if (!Found)
    return Known::Nothing;
  Number = Found->Number;
  return Found->IsNumber && Found->At == At ? Known::Number : Known::Something;
}

void Naps::finish(std::vector<ArgRow> &Args) const {
  for (const Call &C : Calls) {
    int64_t Seconds = 0, Further = 0;
    if (last(C.At, C, Seconds) != Known::Number || Seconds < 0 ||
        Seconds > MaxSeconds)
      continue;
    Known Nanoseconds = last(C.At + Word, C, Further);
    bool IsWorkedOut = Nanoseconds != Known::Number && !Seconds;
    if (Nanoseconds == Known::Nothing || Further < 0 || Further >= Second)
      continue;
    ArgRow Row = C.Row;
    Row.Kind = uint8_t(ArgKind::Constant);
    Row.Value = IsWorkedOut ? LessThanSecond : Seconds * Second + Further;
    auto Behind = std::ranges::upper_bound(Args, Row.Ip, {}, &ArgRow::Ip);
    Args.insert(Behind, Row);
  }
}

} // namespace linemate
