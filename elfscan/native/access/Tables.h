//===- Tables.h - What a scan found -----------------------------*- C++ -*-===//
//
// Owns the record layouts of sharing/model/image.py as C++ structs and their
// file form.  A change here is a change there.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_TABLES_H
#define LINEMATE_ACCESS_TABLES_H

#include <cstdint>
#include <cstdio>
#include <vector>

namespace linemate {

enum class Access : uint8_t { None, Load, Store, Rmw, Address };

enum SiteFlag : uint8_t {
  Atomic = 1,
  Indexed = 2,
  Tracked = 4,
  Given = 4, ///< of what is behind a pointer
  Bitmap = 16,
  Clears = 32,
  Row = 64, ///< of static storage: Stride is of rows at an index that is given,
            ///< and one more index chooses in a row
  Own = 128
};

enum class ArgKind : uint8_t { Address = 1, Param, Constant, Loaded };

struct SiteRow {
  uint64_t Ip, Target;
  int32_t Function;
  uint32_t Size;
  uint16_t Stride, Order;
  uint8_t Kind, Flags, LoopDepth, Rarity;
  auto operator<=>(const SiteRow &) const = default;
};
static_assert(sizeof(SiteRow) == 32);

/// Where a pointer to a function is kept, its slot: at a distance from where
/// some pointer points to, in static storage, or in an argument.
enum class SlotKind : uint8_t { Unknown, Record, Static, Argument };

struct CallRow {
  uint64_t Ip, Callee;
  int32_t Function;
  uint8_t LoopDepth, Tail;
  uint16_t Rarity;
  uint16_t Order;
  uint8_t Slot;
  uint8_t Handed; ///< of an unknown callee: how many registers may be
                  ///< arguments, plus one; else 0
  uint32_t Where; ///< bytes, address (its low half) or number; of a known
                  ///< callee the bytes of the instruction
};
static_assert(sizeof(CallRow) == 32);

struct ArgRow {
  uint64_t Ip, Callee;
  int64_t Value;
  int32_t Function;
  uint8_t Arg, Kind, Source, LoopDepth;
};
static_assert(sizeof(ArgRow) == 32);

struct ParamRow {
  uint64_t Ip;
  int64_t Offset;
  int32_t Function;
  uint32_t Size;
  uint16_t Stride, Order;
  uint8_t Arg, Kind, Flags, LoopDepth, Rarity;
  uint8_t Reserved[7] = {};
  auto operator<=>(const ParamRow &) const = default;
};
static_assert(sizeof(ParamRow) == 40);

/// What a row of ZeroRanges says of [Begin, End).
enum class ZeroRange : uint8_t {
  Differs, ///< runs only where the variable is not Value
  IsZero,  ///< runs only where it is zero
  Sets,    ///< is one instruction, which sets it to Value
  // Of words that may be locks (SpinLocks.h); Value is 0, or of a ticket lock 1
  // + the bytes to the word that gives it back, with SpinMark.
  Held,   ///< runs only while the function holds the word, which it took
  Takes,  ///< is one instruction, which may take it
  Waits,  ///< is a call where it was not taken, which may wait for it
  Leaves, ///< is a function that returns only with it held
  // Of words that loops wait for (WaitedWords.h).
  Passed, ///< runs only behind a loop that ended as the word was not zero
  Passes, ///< is a function that returns only then
  Turn,   ///< runs only while the word is what it was found to be, a TurnValue,
          ///< if nobody else sets it
};

/// What a loop found a word to be that it waited for: a number, or these.
namespace TurnValue {
inline constexpr uint8_t NotZero = 254;
inline constexpr uint8_t Other = 255; ///< what the function computed
} // namespace TurnValue

/// On what a row of a word that may be a lock depends besides.
namespace SpinMark {
inline constexpr uint8_t IfWaitsTake = 0x40;     ///< calls of Waits take it
inline constexpr uint8_t IfTailCallsTake = 0x80; ///< what it ends with takes it
} // namespace SpinMark

struct ZeroRangeRow {
  uint64_t Variable, Begin, End;
  int32_t Function;
  uint16_t Size;
  uint8_t What, Value;
};
static_assert(sizeof(ZeroRangeRow) == 32);

/// Stores the address of a function, or an own argument.
struct KeptRow {
  uint64_t Ip;
  uint64_t Value; ///< the function, 0 where it is an argument
  int32_t Function;
  uint32_t Where; ///< see CallRow
  uint8_t Slot;
  uint8_t Arg;
  uint16_t Reserved;
  uint32_t Reserved2;
};
static_assert(sizeof(KeptRow) == 32);

/// Stores in a static variable what is known to lead to an object, or in a word
/// of the running thread's storage whatever leads somewhere.
struct HeldRow {
  uint64_t Ip;
  uint64_t Variable;
  uint64_t What; ///< a Value of kind Pointee
  int32_t Function;
  uint8_t LoopDepth, Rarity;
  uint16_t Order;
  uint32_t Stride; ///< bytes to what another thread stores, 0 exact
  uint32_t Step;   ///< bytes of What from one round of a loop to the next
};
static_assert(sizeof(HeldRow) == 40);

/// A block's place in the other order, its loop's Reached, whether it is the
/// head of an outermost loop, see Block, and at which of so many stages of a
/// round of all threads it begins, see Places.cpp.
struct BlockRow {
  int32_t Function;
  uint16_t Order, Mirror;
  uint8_t Reached, Head;
  uint8_t Stages, Stage; ///< no stages: 0
};
static_assert(sizeof(BlockRow) == 12);

/// What was read and what could not be.
struct Counts {
  uint64_t Functions = 0;
  uint64_t Instructions = 0;
  uint64_t CodeBytes = 0;
  uint64_t UndecodedBytes = 0;
  uint64_t SegmentOperands = 0; ///< per-CPU or thread-local: not static data
  uint64_t Branches = 0;
  uint64_t OutsideBranches = 0; ///< to no function's start
  uint64_t UnknownCalls = 0;
  uint64_t IndirectJumps = 0;
  uint64_t JumpTables = 0; ///< of the indirect jumps, those that were read
  uint64_t GaveUp = 0;     ///< blocks whose values were dropped to stay linear
  void add(const Counts &Other);
};

struct Tables {
  std::vector<SiteRow> Sites;
  std::vector<CallRow> Calls;
  std::vector<ArgRow> Args;
  std::vector<ParamRow> Params;
  std::vector<ZeroRangeRow> ZeroRanges;
  std::vector<KeptRow> Kept;
  std::vector<BlockRow> Blocks;   ///< with a site or a call, if not all alike
  std::vector<SiteRow> Behind;    ///< targets are Values of kind Pointee;
                                  ///< HeldBit alone: all of Plan::Elsewhere
  std::vector<ArgRow> BehindArgs; ///< the same: addresses that are handed on
  std::vector<HeldRow> Held;
  std::vector<uint64_t> AddressTaken;
  Counts Seen;
};

/// Writes all \p Parts as one output, in order.  False when writing fails.
bool writeTables(std::FILE *Out, const std::vector<Tables> &Parts,
                 uint64_t OverlappingFunctions, uint64_t UnreadableFunctions);

} // namespace linemate

#endif // LINEMATE_ACCESS_TABLES_H
