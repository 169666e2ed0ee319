//===- Scan.cpp - All functions of a plan ---------------------------------===//
//
// Owns batches, threads, and the decoding of one function's bytes.
//
//===----------------------------------------------------------------------===//

#include "Scan.h"
#include "Architectures.h"
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
/// Code bytes of a function that only tells something of the running thread.
constexpr uint64_t TellingBytes = 96;
/// Of one that returns the pointer that the thread keeps, and gets it at the
/// first call.
constexpr uint64_t KeepingBytes = 192;
/// Of one that returns the same data each time: what makes the data at the
/// first call may be inlined in it.
constexpr uint64_t OneResultBytes = 512;
/// Of one that returns what such a function does.
constexpr uint64_t WrapperBytes = 64;
/// Of one that returns what it is handed, or an element of that.
constexpr uint64_t GivenBytes = 64;
/// Such functions that call each other, as compilers leave them where they do
/// not optimise: what a smart pointer leads to is asked of six.
constexpr unsigned GivenCalls = 6;
/// Equal instructions in a row, behind which nothing follows, that are kept:
/// more are filler, of which kernels have megabytes between parts of a section.
constexpr unsigned KeptFiller = 16;
/// An index that is tried out: of no mask or table that is seldom full.
constexpr int64_t TriedIndex = 20011;

/// The end of a function of Go: a call that makes the stack larger, arguments
/// loaded again, and \p O, a jump to the beginning.  That is none of the
/// program's work: \p Before ends at the call.
void stopBeforeGrowth(const Function &F, std::span<Op> Before, Op &O) {
  if (!(F.Flags & GoFunction) || O.Next != Flow::Jump ||
      uint64_t(O.Imm) != F.Begin)
    return;
  while (!Before.empty() && Before.back().Next == Flow::Next &&
         Before.back().How == Transfer::Load)
    Before = Before.first(Before.size() - 1);
  if (!Before.empty() && Before.back().Next == Flow::Call)
    Before.back().Next = O.Next = Flow::Stop;
}

/// Notes at \p O, which a static key exchanges, the way that the key opens.
/// Whatever the table says, the code has to have what the key exchanges: a
/// jump, or what does nothing.
void noteKey(const JumpLabel &Label, Op &O) {
  bool Jumps = O.Next == Flow::Jump && uint64_t(O.Imm) == Label.Target;
  // What is exchanged as the kernel starts says nothing of the other way.
  if (!(Jumps && Label.Way != KeyedWay::Continues) &&
      !(O.idles() && Label.Way != KeyedWay::Jumps))
    return;
  O.Rare = Jumps ? O.end() : Label.Target;
  O.Rarity = Label.Rarity;
}

/// How often the \p Length bytes at the front of \p Code stand there once more
/// in a row, where that begins before \p Room bytes.
uint64_t repeats(std::span<const uint8_t> Code, unsigned Length,
                 uint64_t Room) {
  uint64_t Same = Length, Most = std::min(Code.size(), Room + Length);
  while (Same < Most && Code[Same] == Code[Same - Length])
    ++Same;
  return std::min(Same / Length, (Room + Length - 1) / Length) - 1;
}

class Worker {
public:
  Worker(const Plan &P, const Architecture &A, Decoder &D)
      : P(P), A(A), D(D), Engine(P, D.convention()),
        GoEngine(P, A.Go ? *A.Go : D.convention()) {}

  void scan(const Function &F, Tables &Out) {
    ++Out.Seen.Functions;
    size_t Blocks = Out.Blocks.size();
    for (uint64_t At = F.Begin; At < F.End;) {
      At = decode(F, At, Out);
      FunctionFlow &Of = F.Flags & GoFunction ? GoEngine : Engine;
      if (!Ops.empty())
        Of.run({Ops.front().Ip, At, F.Row, Ops.front().Ip == F.Begin}, Ops,
               Out);
      if (At < F.End || (!Ops.empty() && Ops.front().Ip != F.Begin))
        Out.Blocks.resize(Blocks); // the parts number their blocks alike
    }
  }

  /// Of the function that was scanned last.
  bool returnsOwn() const { return !Ops.empty() && Engine.returnsOwn(); }
  Value returnsSame() const {
    return Ops.empty() ? Value() : Engine.returnsSame();
  }
  void assumeSecond(std::optional<int64_t> Number) {
    Engine.assumeSecond(Number);
  }
  std::optional<FromArgument> returnsGiven() const {
    return Ops.empty() ? std::nullopt : Engine.returnsGiven();
  }
  bool returnsNew() const { return !Ops.empty() && Engine.returnsNew(); }
  void useResults(const KnownResults &Of) { Engine.useResults(Of); }

private:
  const Plan &P;
  const Architecture &A;
  Decoder &D;
  FunctionFlow Engine;
  FunctionFlow GoEngine;
  std::vector<Op> Kept; ///< a place for each is made once
  std::span<Op> Ops;    ///< those of the piece

  /// Fills Ops from \p At on; returns where it stopped.
  uint64_t decode(const Function &F, uint64_t At, Tables &Out) {
    std::span<const uint8_t> Code = P.codeAt(At);
    uint64_t End = F.End - At > PieceBytes ? At + PieceBytes : F.End;
    Code = Code.first(std::min<uint64_t>(Code.size(), F.End - At));
    size_t Count = 0;
    unsigned Filler = 0;
    uint64_t Begin = At;
    std::span<const JumpLabel> Labels = P.labelsFrom(At);
    while (At < End && !Code.empty()) {
      unsigned Length = D.step();
      if (Count == Kept.size())
        Kept.emplace_back();
      Op &Next = Kept[Count];
      Ops = std::span(Kept).first(Count);
      if (D.decode(Code, At, Next)) {
        Length = Next.Length;
        if (Next.IsUnknown)
          Out.Seen.UndecodedBytes += Length;
        if (A.Simplify)
          A.Simplify(P, F, Ops, Next);
        stopBeforeGrowth(F, Ops, Next);
        while (!Labels.empty() && Labels.front().Code < At)
          Labels = Labels.subspan(1);
        if (!Labels.empty() && Labels.front().Code == At)
          noteKey(Labels.front(), Next);
        Next.NeverReturns =
            Next.Next == Flow::Call &&
            std::ranges::binary_search(P.Endings, uint64_t(Next.Imm));
        if (Next.Traits & Halts && !P.TrapsReturn) {
          Next.Next = Flow::Stop;
          Next.NeverReturns = true;
        }
        ++Count;
        Filler = Next.Next == Flow::Stop ? Filler + 1 : 0;
        if (Filler >= KeptFiller) {
          uint64_t More = repeats(Code, Next.Length, End - At);
          Out.Seen.Instructions += More;
          Length += More * Next.Length;
        }
      } else {
        Out.Seen.UndecodedBytes += std::min<uint64_t>(Length, Code.size());
      }
      At += Length;
      Code = Code.subspan(std::min<size_t>(Length, Code.size()));
    }
    Ops = std::span(Kept).first(Count);
    Out.Seen.Instructions += Count;
    Out.Seen.CodeBytes += At - Begin;
    return At;
  }
};

/// The first pass: what small functions return.
class ResultSearch {
public:
  ResultSearch(const Plan &P, const Architecture &A, Decoder &D)
      : P(P), A(A), D(D), W(P, A, D) {}

  KnownResults search() {
    Found.Own = P.OwnResults;
    Found.Sparing = CalleeRegisterSearch(P, D).search();
    Found.Outlined = outlinedAtomics(P);
    for (const Function &F : P.Functions)
      if (!(F.Flags & (StubFunction | GoFunction)))
        look(F);
    std::ranges::sort(Found.Own);
    std::ranges::sort(Found.New);
    lookThrough();
    lookAtGiven();
    return std::move(Found);
  }

private:
  const Plan &P;
  const Architecture &A;
  Decoder &D;
  Worker W;
  KnownResults Found;
  Tables Unused;

  std::span<const uint8_t> codeOf(const Function &F) const {
    std::span<const uint8_t> Code = P.codeAt(F.Begin);
    return Code.first(std::min<uint64_t>(Code.size(), F.End - F.Begin));
  }

  bool mayName(const Function &F, const WantedAddresses &Wanted) const {
    return !A.NamesAddress || A.NamesAddress(codeOf(F), F.Begin, Wanted);
  }

  /// \p F may be one whose result is the running thread's alone, its number or
  /// what it keeps, or always the same data.
  void look(const Function &F) {
    uint64_t Size = F.End - F.Begin;
    bool MayKeep =
        Size <= KeepingBytes && (!A.NamesThread || A.NamesThread(codeOf(F)));
    bool MayBeOwn = MayKeep && Size <= TellingBytes;
    auto IsData = [this](uint64_t Address, Naming How) {
      return How == Naming::Page || (How == Naming::Whole && makes(Address)) ||
             (How == Naming::Loaded ? P.slot(Address).has_value()
                                    : P.inData(Address));
    };
    if (!MayKeep && (Size > OneResultBytes || !mayName(F, IsData)))
      return;
    scan(F);
    if (MayBeOwn && W.returnsOwn())
      Found.Own.push_back(F.Begin);
    note(F);
    if (W.returnsNew())
      Found.New.push_back(F.Begin);
  }

  bool makes(uint64_t Address) const {
    return std::ranges::binary_search(P.NewResults, Address);
  }

  void note(const Function &F) {
    if (Value Same = W.returnsSame(); Same.Kind != ValueKind::Unknown)
      Found.Same.emplace_back(F.Begin, Same);
  }

  static bool isSame(const KnownResults &Of, uint64_t Function) {
    return Of.sameFrom(Function).Kind != ValueKind::Unknown;
  }

  /// Functions that return what one that was found returns.
  void lookThrough() {
    const KnownResults Direct = Found;
    if (Direct.Same.empty() && Direct.New.empty())
      return;
    W.useResults(Direct);
    auto IsKnown = [&Direct](uint64_t Address, Naming How) {
      return How == Naming::Whole &&
             (isSame(Direct, Address) || Direct.isNew(Address));
    };
    for (const Function &F : P.Functions) {
      if (F.End - F.Begin > WrapperBytes ||
          F.Flags & (StubFunction | GoFunction) || !mayName(F, IsKnown) ||
          isSame(Direct, F.Begin) || Direct.isNew(F.Begin))
        continue;
      scan(F);
      note(F);
      if (W.returnsNew())
        Found.New.push_back(F.Begin);
    }
    std::ranges::sort(Found.Same, {}, &std::pair<uint64_t, Value>::first);
    std::ranges::sort(Found.New);
  }

  /// A function that may return what another one does, and those that it calls.
  struct Caller {
    const Function *Which;
    std::vector<uint64_t> Callees;
  };

  /// Functions that return something of what they are handed: those that call
  /// none, and then those that call one that was found in the round before.
  void lookAtGiven() {
    std::vector<Caller> Left;
    for (const Function &F : P.Functions)
      if (F.End - F.Begin <= GivenBytes &&
          !(F.Flags & (StubFunction | GoFunction)) && !isSame(Found, F.Begin) &&
          !Found.isNew(F.Begin))
        Left.push_back({&F, {}});
    for (unsigned Round = 0; Round < GivenCalls && !Left.empty(); ++Round) {
      const KnownResults Before = Found;
      W.useResults(Before);
      std::vector<Caller> Others;
      for (Caller &Of : Left) {
        if (Round && !std::ranges::any_of(Of.Callees, [&](uint64_t Callee) {
              return Before.givenFrom(Callee);
            })) {
          Others.push_back(std::move(Of));
          continue;
        }
        auto Given = given(*Of.Which);
        if (Given)
          Found.Given.emplace_back(Of.Which->Begin, *Given);
        else if (Round)
          Others.push_back(std::move(Of));
        else if (!Unused.Calls.empty())
          Others.push_back(callerOf(*Of.Which));
      }
      if (Found.Given.size() == Before.Given.size())
        break;
      std::ranges::sort(Found.Given, {},
                        &std::pair<uint64_t, FromArgument>::first);
      Left = std::move(Others);
    }
  }

  /// What \p F returns of what it is handed.  That an index is its second
  /// argument is tried out with numbers.
  std::optional<FromArgument> given(const Function &F) {
    scan(F);
    auto Found = W.returnsGiven();
    if (!Found || !Found->Stride)
      return Found;
    for (int64_t Number : {int64_t(0), TriedIndex}) {
      W.assumeSecond(Number);
      scan(F);
      W.assumeSecond({});
      FromArgument Wanted = *Found;
      Wanted.Base += Number * Found->Stride;
      Wanted.Stride = 0;
      if (W.returnsGiven() != Wanted)
        return {};
    }
    return Found;
  }

  /// \p F, which was scanned last.
  Caller callerOf(const Function &F) const {
    Caller Of{&F, {}};
    for (const CallRow &Call : Unused.Calls)
      Of.Callees.push_back(Call.Callee);
    return Of;
  }

  void scan(const Function &F) {
    Unused = {};
    W.scan(F, Unused);
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

  const Architecture *A = findArchitecture(uint32_t(P.Machine));
  if (!A)
    return "there is no decoder for this architecture";
  std::optional<uint64_t> Global;
  if (A->GlobalPointer)
    Global = A->GlobalPointer(P);
  auto Make = [&] {
    std::unique_ptr<Decoder> D = A->Make();
    if (D && Global)
      D->useGlobalPointer(*Global);
    return D;
  };
  KnownResults Known;
  std::unique_ptr<Decoder> First = Make(); // it remembers what it decoded
  if (First)
    Known = ResultSearch(P, *A, *First).search();
  std::atomic<size_t> NextBatch = 0;
  std::atomic<bool> Failed = false;
  auto Work = [&](std::unique_ptr<Decoder> D) {
    if (!D) {
      Failed = true;
      return;
    }
    Worker W(P, *A, *D);
    W.useResults(Known);
    for (size_t B; (B = NextBatch++) < Out.size();)
      for (size_t I = Batches[B]; I < Batches[B + 1]; ++I)
        W.scan(P.Functions[I], Out[B]);
  };
  std::vector<std::thread> Others;
  for (unsigned T = 1; T < Threads && T < Out.size(); ++T)
    Others.emplace_back([&] { Work(Make()); });
  Work(std::move(First));
  for (std::thread &T : Others)
    T.join();
  if (Failed)
    return "the disassembler does not support this architecture";
  return std::nullopt;
}

} // namespace linemate
