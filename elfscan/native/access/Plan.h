//===- Plan.h - What to scan ------------------------------------*- C++ -*-===//
//
// Owns the plan: which bytes of the binary are code, which addresses are
// shared data, where functions begin and end, which GOT slots have a known
// content.  Written by elfscan/code/accessplan.py.  Does not read ELF.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_PLAN_H
#define LINEMATE_ACCESS_PLAN_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace linemate {

enum class Arch : uint32_t { X86_64 = 1, AArch64 = 2, RiscV64 = 3 };

/// Addresses [Begin, End).
struct Range {
  uint64_t Begin = 0;
  uint64_t End = 0;
};

/// Addresses with the bytes behind them.
struct Bytes {
  uint64_t Begin = 0;
  std::span<const uint8_t> Data;
  uint64_t end() const { return Begin + Data.size(); }
};

struct Function {
  uint64_t Begin = 0;
  uint64_t End = 0;
  uint32_t Flags = 0;
  int32_t Row = -1; ///< row of the caller's function table
};

/// Way of elfscan/code/jumplabels.py.
enum class KeyedWay : uint32_t { AsLinked = 0, Continues = 1, Jumps = 2 };

/// An instruction that a static key of a kernel makes a jump to \p Target, or
/// one that does nothing.
struct JumpLabel {
  uint64_t Code = 0;
  uint64_t Target = 0;
  KeyedWay Way = KeyedWay::AsLinked; ///< when the kernel has started
  uint8_t Rarity = 0; ///< 4 * -log2 of the chance that the other way is open
};

/// FunctionFlag.STUB of sharing/model/image.py.
inline constexpr uint32_t StubFunction = 32;
/// FunctionFlag.GO there.
inline constexpr uint32_t GoFunction = 128;

/// Of the plan alone: the result is the running thread's.
inline constexpr uint32_t OwnResult = 256;
/// Of the plan alone: the result leads to a new object.
inline constexpr uint32_t NewResult = 512;
/// Of the plan alone: writes a word where its first argument leads to, and
/// nothing else that its caller has.
inline constexpr uint32_t WritesHandle = 1024;
/// Of the plan alone: nothing comes back from it.
inline constexpr uint32_t NeverReturns = 2048;
/// Of the plan alone: all threads of a group wait there for each other.
inline constexpr uint32_t ForAll = 4096;
/// Of the plan alone: null, a negative number, or any number but zero means
/// that the function could not do what it was asked for.
inline constexpr uint32_t FailsNull = 8192;
inline constexpr uint32_t FailsNegative = 16384;
inline constexpr uint32_t FailsNonzero = 32768;
/// Of the plan alone: zero means that time ran out.  The argument of this
/// number, in two bits, says how many milliseconds that takes.
inline constexpr unsigned TimesOutShift = 16;
inline constexpr uint32_t TimesOutMask = 3;
/// Of the plan alone: waits until a time, and a clock that is asked behind it
/// tells whether that has come.
inline constexpr uint32_t WaitsUntil = 1U << 25;
/// Of the plan alone: any number but its third argument means that it failed.
inline constexpr uint32_t FailsShort = 1U << 26;
/// Any of them.
inline constexpr uint32_t TellsFailure =
    FailsNull | FailsNegative | FailsNonzero | WaitsUntil | FailsShort |
    TimesOutMask << TimesOutShift;
/// Of the plan alone: sleeps for the time that an argument leads to.
inline constexpr uint32_t SleepsFor = 1U << 18;
/// Of the plan alone: returns the word that its first argument leads to, of a
/// byte or wider, or sets it.
inline constexpr uint32_t LoadsByte = 1U << 19;
inline constexpr uint32_t LoadsWord = 1U << 20;
inline constexpr uint32_t StoresWord = 1U << 21;
inline constexpr uint32_t OfWord = LoadsByte | LoadsWord | StoresWord;
/// Of the plan alone: returns what a clock says, in these units, or fills what
/// an argument leads to with seconds and microseconds, or nanoseconds.
inline constexpr unsigned ClockShift = 22;
inline constexpr uint32_t ClockMask = 7;
inline constexpr uint32_t TellsSeconds = 1; ///< fills a word with them as well
inline constexpr uint32_t TellsMilliseconds = 2;
inline constexpr uint32_t TellsMicroseconds = 3;
inline constexpr uint32_t TellsNanoseconds = 4;
inline constexpr uint32_t FillsFirst = 5;
inline constexpr uint32_t FillsSecond = 6;
/// Content of a slot that is no address: there the descriptor of a thread-local
/// variable begins.
inline constexpr uint64_t Descriptor = ~0ull;

/// A read-only mapping of one file.
class MappedFile {
public:
  MappedFile() = default;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();
  /// Returns why it failed, or nothing.
  std::optional<std::string> open(const char *Path);
  std::span<const uint8_t> bytes() const { return {Base, Size}; }

private:
  const uint8_t *Base = nullptr;
  size_t Size = 0;
};

/// A store of a whole register to a word of the running thread's storage.
struct ThreadStore {
  int64_t Place; ///< from the thread pointer
  uint64_t At;
};

class Plan {
public:
  Arch Machine = Arch::X86_64;
  /// Absolute immediates and displacements can be addresses (not PIE).
  bool Absolute = false;
  /// All accesses behind pointers are wanted too, wherever these come from.
  bool Elsewhere = false;
  /// Code goes on behind an instruction that traps: a kernel warns by them.
  bool TrapsReturn = false;
  std::vector<Bytes> Code;
  std::vector<Bytes> Constants;
  std::vector<Range> Data;
  /// Sorted, not overlapping: an extent ends where the next one begins, so
  /// that the work is linear in the code whatever the plan claims.
  std::vector<Function> Functions;
  uint64_t OverlappingFunctions = 0;
  uint64_t UnreadableFunctions = 0;
  /// Of the whole file, by place; of x86-64 alone, see ThreadStores.cpp.
  std::vector<ThreadStore> ThreadStores;
  std::vector<uint64_t> OwnResults;    ///< functions with that flag, sorted
  std::vector<uint64_t> NewResults;    ///< the same
  std::vector<uint64_t> HandleWriters; ///< the same
  std::vector<uint64_t> Endings;       ///< the same of NeverReturns
  std::vector<uint64_t> WaitsForAll;   ///< the same of ForAll
  std::vector<uint64_t> Sleepers;      ///< the same of SleepsFor
  /// Functions whose result tells of a failure, with these flags; sorted.
  std::vector<std::pair<uint64_t, uint32_t>> TellFailures;

  /// Functions that tell the time, with how; sorted.
  std::vector<std::pair<uint64_t, uint32_t>> Clocks;

  /// Functions that load or store the word that they are handed, with these
  /// flags; sorted.
  std::vector<std::pair<uint64_t, uint32_t>> OfWords;

  /// Reads the plan in \p Raw over the bytes of \p File.  Returns why it
  /// failed, or nothing.
  std::optional<std::string> parse(std::span<const uint8_t> Raw,
                                   std::span<const uint8_t> File);

  bool inData(uint64_t Address) const {
    if (Address < DataLow || Address >= DataHigh)
      return false;
    for (const Range &R : Data)
      if (Address - R.Begin < R.End - R.Begin)
        return true;
    return false;
  }
  /// The content of a GOT slot.
  std::optional<uint64_t> slot(uint64_t Address) const;
  /// The branches of static keys at \p Address and behind it.
  std::span<const JumpLabel> labelsFrom(uint64_t Address) const;
  /// How the function at \p Address tells of a failure, of TellsFailure.
  uint32_t failuresOf(uint64_t Address) const;
  /// How the function at \p Address tells the time, or 0.
  uint32_t clockAt(uint64_t Address) const;
  /// What the function at \p Address does to the word it is handed, of OfWord.
  uint32_t toWord(uint64_t Address) const;
  /// Whether a function, stub or import placeholder begins here.
  bool startsFunction(uint64_t Address) const;
  /// Where the one function starts that has the only store to this word of the
  /// thread's storage, but for those that clear it.
  std::optional<uint64_t> aloneSetBy(int64_t Place) const;
  /// The code bytes from \p Address to the end of its range.
  std::span<const uint8_t> codeAt(uint64_t Address) const;
  /// The read-only bytes from \p Address to the end of their range.
  std::span<const uint8_t> constantsAt(uint64_t Address) const;

private:
  uint64_t DataLow = ~0ull;
  uint64_t DataHigh = 0;
  uint64_t SlotLow = ~0ull;
  uint64_t SlotHigh = 0;
  std::vector<std::pair<uint64_t, uint64_t>> Slots;
  std::vector<uint64_t> Starts;
  std::vector<JumpLabel> Labels; ///< by Code

  void sortFunctions(std::vector<Function> All);
  void findThreadStores();
};

} // namespace linemate

#endif // LINEMATE_ACCESS_PLAN_H
