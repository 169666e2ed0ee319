//===- Flow.h - The data flow of one function -------------------*- C++ -*-===//
//
// Owns the values of registers and stack slots at each block, and what the
// function does with the addresses among them.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_FLOW_H
#define LINEMATE_ACCESS_FLOW_H

#include "CalleeRegisters.h"
#include "Choices.h"
#include "Decoder.h"
#include "Graph.h"
#include "Join.h"
#include "Naps.h"
#include "OutlinedAtomics.h"
#include "SpinLocks.h"
#include "Tables.h"
#include "Value.h"
#include "WaitedWords.h"
#include "ZeroRanges.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

namespace linemate {

/// A spilled value at an offset from the stack pointer at entry.  Narrower than
/// 8 bytes are only unknown ones of the running thread.
struct Slot {
  int64_t Offset;
  Value Content;
  int64_t Size = 8;
};

using Registers = std::array<Value, MaxRegs>;

/// Spills that are followed at one time; -O0 code of large functions has many.
inline constexpr size_t MaxSlots = 256;

struct State {
  Registers Regs;
  std::vector<Slot> Slots; ///< by offset
};

/// One piece of work: a function, or the first part of a huge one.
struct Piece {
  uint64_t Begin, End;
  int32_t Row;
  bool IsEntry; ///< begins where callers enter
};

/// What a function returns, told by what it is handed: an argument, or the word
/// so many bytes behind it, some bytes on, or an element there at the index
/// that its second argument is.
struct FromArgument {
  int64_t Word = 0;    ///< bytes from the argument to the word
  int64_t Base = 0;    ///< bytes from there
  uint32_t Stride = 0; ///< of an element; 0: none
  uint8_t Arg = 0;
  bool IsLoaded = false; ///< what the word has; else the argument itself
  bool operator==(const FromArgument &) const = default;
};

/// Functions that are known by what they return.
struct KnownResults {
  std::vector<uint64_t> Own; ///< what is the running thread's; sorted
  /// Functions with what each returns every time, sorted: the address of data,
  /// or the pointer that a word of the thread's storage has.
  std::vector<std::pair<uint64_t, Value>> Same;
  /// Functions that return what an allocator made for them; sorted.
  std::vector<uint64_t> New;
  /// Functions that leave registers alone which the convention lets them
  /// change; sorted.
  std::vector<CalleeRegisters> Sparing;
  /// Functions with what each makes of its arguments, sorted.
  std::vector<std::pair<uint64_t, FromArgument>> Given;

  /// Functions that stand for one atomic instruction, sorted.
  std::vector<OutlinedAtomic> Outlined;

  const OutlinedAtomic *outlined(uint64_t Function) const {
    auto It = std::ranges::lower_bound(Outlined, Function, {},
                                       &OutlinedAtomic::Function);
    return It != Outlined.end() && It->Function == Function ? &*It : nullptr;
  }
  bool isNew(uint64_t Function) const {
    return std::ranges::binary_search(New, Function);
  }
  const CalleeRegisters *sparing(uint64_t Function) const {
    auto It = std::ranges::lower_bound(Sparing, Function, {},
                                       &CalleeRegisters::Function);
    return It != Sparing.end() && It->Function == Function ? &*It : nullptr;
  }
  bool isOwn(uint64_t Function) const {
    return std::ranges::binary_search(Own, Function);
  }
  /// Unknown: not always the same.
  Value sameFrom(uint64_t Function) const {
    auto It = std::ranges::lower_bound(Same, Function, {},
                                       &std::pair<uint64_t, Value>::first);
    return It != Same.end() && It->first == Function ? It->second : Value();
  }
  const FromArgument *givenFrom(uint64_t Function) const {
    auto It = std::ranges::lower_bound(
        Given, Function, {}, &std::pair<uint64_t, FromArgument>::first);
    return It != Given.end() && It->first == Function ? &It->second : nullptr;
  }
};

/// Tells quickly of most functions that none of some lists has them.
class FunctionFilter {
public:
  void add(const auto &Functions) {
    for (uint64_t Function : Functions)
      Seen[bitOf(Function)] = true;
  }
  bool mayHave(uint64_t Function) const { return Seen[bitOf(Function)]; }

private:
  static constexpr unsigned IndexBits = 14;
  std::bitset<size_t(1) << IndexBits> Seen;

  static size_t bitOf(uint64_t Function) {
    return Function * 0x9E3779B97F4A7C15 >> (64 - IndexBits);
  }
};

/// Reused for many functions; keeps its memory.
class FunctionFlow {
public:
  FunctionFlow(const Plan &P, const Convention &C) : P(P), C(C) {
    Special.add(P.HandleWriters);
    Special.add(P.NewResults);
  }
  /// Analyses \p Ops, which are \p What, and appends what it finds to \p Out,
  /// by address.
  void run(const Piece &What, std::span<const Op> Ops, Tables &Out);
  /// After run: is what the function returns the running thread's?
  bool returnsOwn() const { return Returned == Returns::Own; }
  /// After run: what the function returns, whichever way it went, as of
  /// KnownResults::Same.
  Value returnsSame() const { return OneResult; }
  /// From now on functions are handed this number as second argument.
  void assumeSecond(std::optional<int64_t> Number) { Second = Number; }
  /// After run: what it returns of what it is handed, whichever way it went.
  /// An index is not proved to be the second argument.
  std::optional<FromArgument> returnsGiven() const;
  /// After run: does the function return a new object each time, or nothing?
  bool returnsNew() const { return MadeHere == NewObject::Always; }
  /// Of which functions that is known.
  void useResults(const KnownResults &Of) {
    Known = &Of;
    Special.add(Of.Own);
    Special.add(Of.Same | std::views::keys);
    Special.add(Of.New);
    Special.add(Of.Sparing | std::views::transform(&CalleeRegisters::Function));
    Special.add(Of.Given | std::views::keys);
  }

private:
  /// The address that a memory operand names.
  struct Effective {
    Value Where;
    bool Own; ///< made by this instruction's own operand
  };
  /// Where a pointer to a function is.
  struct Holder {
    SlotKind What = SlotKind::Unknown;
    int64_t Where = 0;
  };
  struct Escape {
    uint32_t Origin;
    Value What;
  };
  /// What an outlined atomic that is called does to which word.
  struct OutlinedChange {
    SpinLocks::Word What;
    bool Takes = false, Clears = false;
  };
  struct Entry {
    Registers Regs;
    std::vector<Slot> Slots;
    uint8_t Visits = 0;
    bool Reached = false;
    bool Dirty = false;
    bool Walked = false;
  };

  const Plan &P;
  const Convention &C;
  Graph G;
  std::vector<Entry> In;
  std::vector<uint32_t> Opened; ///< blocks that the last walk changed
  /// A place in the frame whose address got out, and how much may change there.
  struct Exposure {
    int64_t Offset, Size;
  };
  std::vector<Exposure> Exposed;
  std::vector<int64_t> Spilled; ///< stack offsets that ever held a value
  bool Emitting = false;
  std::optional<int64_t> Second; ///< argument, where a number is assumed
  const KnownResults *Known = nullptr;
  FunctionFilter
      Special; ///< of which a call does more than the convention says
  enum class Returns : uint8_t { Nothing, Own, Other };
  Returns Returned = Returns::Nothing; ///< by all returns that were walked
  Value OneResult;                     ///< what all of them return
  bool HasResult = false;              ///< one way out was seen
  Value OneGiven; ///< the same of what is made of arguments
  enum class NewObject : uint8_t { Unseen, Always, Other };
  NewObject MadeHere = NewObject::Unseen; ///< by all returns that were walked

  /// The last shift up into each register (Transfer::ShiftUp).
  struct Up {
    uint32_t Origin = 0;
    int64_t By = 0;
    Value What;
  };
  std::array<Up, MaxRegs> Raised;
  bool AnyRaised = false;
  /// Where words were loaded from of late, by the op: see noteCounter.
  struct Counter {
    uint32_t Origin = 0;
    Value Where;
  };
  std::array<Counter, 8> Counters;
  /// The register that was last given a number of less than 4 bytes, in this
  /// block, and the number.
  int8_t NarrowReg = NoReg;
  int64_t NarrowNumber = 0;
  Choices Chosen;
  uint32_t BlockFirst = 0; ///< op of the block that is walked
  std::span<const Op> Code;

  // While emitting.
  std::vector<uint8_t> Used; ///< of each op that makes an address
  std::vector<Escape> Made;  ///< addresses by the op that makes them
  std::vector<Escape> Escapes;
  std::vector<SiteRow> ExclusiveSites, ExclusiveBehind;
  std::vector<ParamRow> ExclusiveParams;
  std::vector<uint8_t> HasRow; ///< by order of the blocks
  std::vector<uint32_t> Stage; ///< of each block, see countStages
  ZeroRanges Zeros;
  WaitedWords Waits;
  SpinLocks Spins;
  Naps Sleeps;
  uint32_t BlockNumber = 0;
  uint8_t LoopDepth = 0;
  uint8_t Rarity = 0;
  uint16_t Order = 0;
  Tables *Out = nullptr;
  Piece Current = {};
  State Now;

  void solve(std::span<const Op> Ops);
  void propagate(std::span<const Op> Ops, size_t From);
  bool merge(Entry &To, const State &From);
  void copyRegs(const Registers &From, Registers &To) const;
  void enter(Entry &To);
  void walk(const Block &B, std::span<const Op> Ops);
  void open(uint32_t Op);

  Value reg(const Op &O, int8_t Reg) const;
  Value literal(int64_t N, uint32_t Origin) const;
  Value index(const MemOperand &M) const;
  Effective effective(const MemOperand &M, uint32_t Origin) const;
  std::optional<int64_t> threadPlace(const MemOperand &M,
                                     const Effective &E) const;
  Value loaded(const Op &O, const Effective &E, uint32_t Origin);
  Value computed(const Op &O, uint32_t Origin, const Effective *E);
  Value completed(const Value &Page, const Op &O, uint32_t Origin) const;
  Value lowered(const Op &O) const;
  BitRole bitsOf(const Op &O) const;
  Value inHalf(const Op &O, const Value &V) const;
  void step(const Op &O, uint32_t Index);
  /// What an op stores from a vector register, word by word.
  struct StoredWords {
    TwoValues What;
    unsigned Count = 0;
  };
  TwoValues vector(int8_t Reg) const;
  void forgetVectors();
  StoredWords storedVector(const Op &O, const MemOperand &M);
  TwoValues constants(const Effective &E) const;
  void vectorStep(const Op &O, const Effective &E, uint32_t Origin);
  TwoValues vectorMoved(const Op &O, const Effective &E, uint32_t Origin);
  void store(const Op &O, const MemOperand &M, const Effective &E, bool Keeps,
             uint32_t Origin);
  void getsOut(const Value &V, const MemOperand &M, const Effective &E,
               uint32_t Index, int64_t Behind);
  void spill(int64_t Offset, const Value &Content, int64_t Size = 8);
  void forget(int64_t Offset, int64_t Size);
  bool callsDescriptor(const Op &O) const;
  void clobberForCall(const Op &O);
  CalleeRegisters registersOf(const Value &To) const;
  void returned();
  void returnsFrom(const Op &O, uint32_t Index);
  void returnsMade(const Value &Result);
  void returnsOnly(const Value &Result);
  bool makesObject(const Value &To) const;
  void returnsObject(bool IsNew);
  Value resultOf(const Value &To) const;
  Value madeOf(const FromArgument &From, uint32_t Origin);
  Value givenBy(const Value &To, uint32_t Origin);
  void noteResult(const Value &To, const Value &Given, uint32_t Origin);
  void expose(const Value &V, int64_t Size);
  bool exposesSpills() const;

  // Counted.cpp: numbers that are taken from a counter.
  bool takesNumber(const Op &O) const;
  void noteCounter(const Op &O, const Effective &E, uint32_t Origin);
  void markCounted(const Op &O, const Effective &E, uint32_t Stored);

  // Choices.cpp: what is one of two.
  Value eitherOf(Value Lost, const Value &Old, const Value &New, bool IsLoop);
  int8_t chosenOperand(const Op &O) const;
  Value computedOfEither(const Op &O, uint32_t Origin, const Value &Lost);
  std::array<uint8_t, 2> raritiesOf(const TwoValues &Two) const;
  void accessEither(const Op &O, const MemOperand &M, uint32_t Origin);
  /// Calls \p Do with \p V, or with each of the two that it may be.
  template <typename Action> void eachOf(const Value &V, Action Do) const {
    if (!V.Choice)
      return Do(V);
    TwoValues Two = Chosen.of(V.Choice);
    Do(Two[0]);
    Do(Two[1]);
  }

  // Emit.cpp: what is reported.
  void access(const Op &O, const MemOperand &M, const Effective &E);
  Access kindOf(const Op &O, const MemOperand &M) const;
  bool changesBits(const Op &O, const MemOperand &M) const;
  uint8_t smallStored(const Op &O, const MemOperand &M) const;
  ZeroRanges::Variable variableAt(const MemOperand &M,
                                  const Effective &E) const;
  void zeroTest(const Op &O, uint32_t Index, const Effective &E);
  void waitTest(const Op &O, uint32_t Index, const Effective &E);
  Value target(const Op &O) const;
  void call(const Op &O, uint32_t Index);
  size_t argumentsAtMost() const;
  void arguments(const Op &O, uint64_t Callee, uint32_t Index);
  void argument(const Value &V, ArgRow Row, bool AnyAddress, bool AnyFunction);
  void passWords(int64_t Offset, uint8_t Arg, uint64_t Ip);

  // SpinFlow.cpp: words that may be locks.
  SpinLocks::Word wordAt(const MemOperand &M, const Effective &E) const;
  std::optional<int64_t> swapped(const Op &O, SpinLocks::Word What) const;
  std::optional<int64_t> numberIn(const Op &O, int8_t Reg) const;
  void spinTest(const Op &O, uint32_t Index, const Effective &E);
  bool callsOutlined(std::span<const Op> Ops) const;
  std::optional<OutlinedChange> outlinedChange(const Op &O) const;
  void spinChange(const Op &O, uint32_t Index, SpinLocks::Word What);

  // Pointers.cpp: where pointers to functions are kept.
  struct WayBack {
    uint32_t Block, Before; ///< op before which Reg has the value
    int8_t Reg;
    int64_t Offset;
  };
  enum class Traced : uint8_t { Lost, Made, BlockBegin };
  std::vector<WayBack> Ways, Begins;
  bool sets(const Op &O, int8_t Reg) const;
  static bool isMoved(const Op &O, WayBack &Way);
  Traced trace(WayBack &Way, unsigned &Walked) const;
  bool goBefore(const WayBack &Way);
  bool isArgument(int8_t Reg) const;
  Holder holderAt(const MemOperand &M, const Effective &E, uint32_t Index);
  Holder recordAt(const MemOperand &M, uint32_t Block, uint32_t Index);
  Holder calledFrom(const Op &O, uint32_t Index);
  std::optional<WayBack> loadOf(int8_t Reg, uint32_t Index);
  void loadedArgument(const Value &V, uint8_t Number, ArgRow Row,
                      uint32_t Index);
  void keep(const Value &V, const MemOperand &M, const Effective &E,
            uint32_t Index, int64_t Behind);
  void hold(const Value &V, const MemOperand &M, const Effective &E,
            uint32_t Index, int64_t Behind);
  void holdIn(const Value &V, int64_t Place, uint32_t Index);
  void holdInEither(const Value &V, const MemOperand &M, uint32_t Index,
                    int64_t Behind);
  void holdInElements(const Value &V, const MemOperand &M, const Value &Where,
                      int64_t Behind, uint32_t Index);
  void keepOnFrame(const Value &V, int64_t At, uint32_t Index);
  void keepOwn(const Value &V, const MemOperand &M, int64_t At, uint32_t Index);
  bool isFirstUse(const MemOperand &M) const;
  uint64_t whatIs(const Value &V) const;
  uint64_t placeOf(const Value &V) const;
  /// Where an array begins, and how far apart its elements are.
  struct Array {
    uint64_t Place = 0;
    uint32_t Step = 0;
  };
  Array arrayOf(const Value &V) const;
  Value firstArray(const Value &V) const;

  // Emit.cpp again.
  void made(uint32_t Index, const Value &V);
  void madeBy(const Op &O, uint32_t Index, const Value &Result,
              const Effective &E);
  void escape(const Value &V);
  void finish(std::span<const Op> Ops);
  void useMade(std::span<const Op> Ops);
  void sortEscapes();
  void reportEscape(const Escape &E, std::span<const Op> Ops);
  void reportAddress(const Value &V, uint64_t Ip, const Block &B);
  /// Where the rows of the function begin.
  struct RowsBefore {
    size_t Sites, Calls, Params, Behind;
  };
  uint32_t countStages(const RowsBefore &First);
  void placeBlocks(const RowsBefore &First);
  bool takesAddress(const Value &V) const;
  uint64_t functionAt(const Value &V) const;
};

} // namespace linemate

#endif // LINEMATE_ACCESS_FLOW_H
