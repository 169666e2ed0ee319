//===- Scan.cpp - All functions of a plan ---------------------------------===//
//
// Owns batches, threads, and the decoding of one function's bytes.
//
//===----------------------------------------------------------------------===//

#include "Scan.h"
#include "Decoder.h"
#include "Flow.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace linemate {

namespace {

/// Code bytes per batch: small enough to share the work evenly, large enough
/// that taking one costs nothing.
constexpr uint64_t BatchBytes = 64 << 10;
/// Code bytes that are analysed at once.  Real functions are smaller; a
/// hostile one must not take memory by the gigabyte.
constexpr uint64_t PieceBytes = 128 << 10;

constexpr uint8_t Endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

bool startsWith(std::span<const uint8_t> Code,
                std::span<const uint8_t> Prefix) {
  return Code.size() >= Prefix.size() &&
         std::equal(Prefix.begin(), Prefix.end(), Code.begin());
}

class Worker {
public:
  Worker(const Plan &P, Decoder &D) : P(P), D(D), Engine(P, D.convention()) {}

  void scan(const Function &F, Tables &Out) {
    ++Out.Seen.Functions;
    for (uint64_t At = F.Begin; At < F.End;) {
      At = decode(F, At, Out);
      if (!Ops.empty())
        Engine.run({Ops.front().Ip, At, F.Row, Ops.front().Ip == F.Begin}, Ops,
                   Out);
    }
  }

private:
  const Plan &P;
  Decoder &D;
  FunctionFlow Engine;
  std::vector<Op> Ops;

  /// Fills Ops from \p At on; returns where it stopped.
  uint64_t decode(const Function &F, uint64_t At, Tables &Out) {
    std::span<const uint8_t> Code = P.codeAt(At);
    uint64_t End = F.End - At > PieceBytes ? At + PieceBytes : F.End;
    Code = Code.first(std::min<uint64_t>(Code.size(), F.End - At));
    Ops.clear();
    Op Next;
    uint64_t Begin = At;
    while (At < End && !Code.empty()) {
      unsigned Length = D.step();
      if (D.decode(Code, At, Next)) {
        Length = Next.Length;
        simplify(Next, F);
        Ops.push_back(Next);
      } else {
        Out.Seen.UndecodedBytes += std::min<uint64_t>(Length, Code.size());
      }
      At += Length;
      Code = Code.subspan(std::min<size_t>(Length, Code.size()));
    }
    Out.Seen.Instructions += Ops.size();
    Out.Seen.CodeBytes += At - Begin;
    return At;
  }

  /// A jump to a bare return is a return (the kernel's return thunk).  A call
  /// of one as a function's first act is a tracer's hook: it changes nothing.
  void simplify(Op &O, const Function &F) {
    if (P.Machine != Arch::X86_64)
      return;
    if (O.Next == Flow::Jump &&
        (uint64_t(O.Imm) < F.Begin || uint64_t(O.Imm) >= F.End)) {
      if (returnsAtOnce(O.Imm))
        O.Next = Flow::Return;
    } else if (O.Next == Flow::Call && isFirst() && returnsAtOnce(O.Imm)) {
      O.Next = Flow::Next;
    }
  }

  bool isFirst() const {
    return Ops.empty() ||
           (Ops.size() == 1 && startsWith(P.codeAt(Ops.front().Ip), Endbr64));
  }

  bool returnsAtOnce(uint64_t Target) const {
    constexpr uint8_t Ret = 0xc3, JumpRel32 = 0xe9;
    for (unsigned Hops = 0; Hops < 3; ++Hops) {
      std::span<const uint8_t> Code = P.codeAt(Target);
      if (startsWith(Code, Endbr64)) {
        Code = Code.subspan(sizeof Endbr64);
        Target += sizeof Endbr64;
      }
      if (Code.empty())
        return false;
      if (Code[0] == Ret)
        return true;
      if (Code[0] != JumpRel32 || Code.size() < 5)
        return false;
      uint32_t Distance =
          Code[1] | Code[2] << 8 | Code[3] << 16 | uint32_t(Code[4]) << 24;
      Target += 5 + int64_t(int32_t(Distance));
    }
    return false;
  }
};

} // namespace

std::optional<std::string> scan(const Plan &P, unsigned Threads,
                                std::vector<Tables> &Out) {
  std::vector<size_t> Batches;
  uint64_t Bytes = BatchBytes;
  for (size_t I = 0; I < P.Functions.size(); ++I) {
    if (Bytes >= BatchBytes) {
      Batches.push_back(I);
      Bytes = 0;
    }
    Bytes += P.Functions[I].End - P.Functions[I].Begin;
  }
  Batches.push_back(P.Functions.size());
  Out.clear();
  Out.resize(Batches.size() - 1);

  std::atomic<size_t> NextBatch = 0;
  std::atomic<bool> Failed = false;
  auto Work = [&] {
    std::unique_ptr<Decoder> D = makeDecoder(P.Machine);
    if (!D) {
      Failed = true;
      return;
    }
    Worker W(P, *D);
    for (size_t B; (B = NextBatch++) < Out.size();)
      for (size_t I = Batches[B]; I < Batches[B + 1]; ++I)
        W.scan(P.Functions[I], Out[B]);
  };
  std::vector<std::thread> Others;
  for (unsigned T = 1; T < Threads && T < Out.size(); ++T)
    Others.emplace_back(Work);
  Work();
  for (std::thread &T : Others)
    T.join();
  if (Failed)
    return "the disassembler does not support this architecture";
  return std::nullopt;
}

} // namespace linemate
