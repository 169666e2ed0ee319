//===- Origins.h - Where the address of an access comes from ----*- C++ -*-===//
//
// Owns the way back from a memory operand to the registers and the memory that
// its address was made of: who knows which variable is there knows of what type
// the accessed object is.
//
// A register is followed to the instructions that set it, a few over all ways
// that lead to it: where ways meet, what was looked up on one of them is made
// on the other.  Steps of a loop and sums with an index leave the object and
// lose the element: such rows are marked.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_ORIGINS_H
#define LINEMATE_ACCESS_ORIGINS_H

#include "Body.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace linemate {

/// What sets a word of the frame, or where else the word is.
enum class WordSet : uint8_t {
  Unknown,  ///< or several instructions
  Once,     ///< one, in no loop
  Repeated, ///< one, in a loop
  Own,      ///< a word of the thread's own storage, at Offset from its start
  Returned, ///< no word: Offset is from what the function at Ip returns
  Given,    ///< no word: Offset is from the function's argument Held; of moves
            ///< alone, as what follows
  Frame,    ///< no word: Offset is from the stack pointer at entry
  Begins,   ///< a row in front of the others of one value, see Moved
  Number,   ///< no word: a number that chooses the element, before Ip; of what
            ///< is accessed alone
};

/// What is told of a function's moves: in a row of WordSet::Begins the Indexed.
enum class Moved : uint8_t {
  Access,  ///< the address that the instruction at Ip accesses
  Stored,  ///< what it stores, Held bytes behind that address
  Handed,  ///< what it, a call to Offset, 0 not known, gives as argument Held
  Returns, ///< what it, an end of the function, returns
  Called,  ///< the address that it, a call to Offset, calls
};

/// How an unknown number of elements comes about, where one is added.
enum class Chosen : uint8_t {
  None,    ///< not at all
  Somehow, ///< by a number that the function computes, loads or is given
  Walks,   ///< a loop goes from element to element
};

/// ORIGIN_DTYPE of elfscan/code/origins.py.  Before the instruction at Ip, Base
/// + Offset is the address of the access, or of the word whose content, plus
/// the Offset of Parent, is what Parent says.  Without Base, Offset is an
/// address of the file, of WordSet::Own a place in the thread's own storage,
/// of WordSet::Returned one behind the pointer that a function returns.
struct OriginRow {
  uint64_t Ip;
  int64_t Offset;
  int32_t Asked;  ///< row of the query
  int32_t Parent; ///< row of this table, -1 none
  int8_t Base;
  uint8_t Indexed; ///< plus an unknown number of elements: a Chosen
  WordSet Kept;    ///< of a word in the frame
  uint8_t Held;    ///< of a word: the access has not changed it since it was
                   ///< loaded
  uint32_t Reserved;
};
static_assert(sizeof(OriginRow) == 32);

class OriginFinder {
public:
  OriginFinder(const Body &B, std::vector<OriginRow> &Out) : B(B), Out(Out) {}

  /// The body is of another function from now on.
  void enter() { HasStores = false; }
  /// The rows of the operand that the instruction \p Row names first; nearest
  /// first.
  void find(uint32_t Row, int32_t Query);
  /// The same of the value of an argument that the call \p Row is given in a
  /// register.
  void findHanded(uint32_t Row, uint32_t Argument, int32_t Query);
  /// The same of all that the function may do with a pointer.
  void findMoves(int32_t Query);

private:
  struct Item {
    uint32_t Row; ///< before which Reg has the value
    int8_t Reg;   ///< NoReg: Offset is all
    int64_t Offset;
    bool Indexed;
    int32_t Parent;
    unsigned Level; ///< words that were loaded on the way
    WordSet Kept = WordSet::Unknown;
    bool Held = false;
    bool Walks = false; ///< the index does: it is Indexed too
    bool operator==(const Item &) const = default;
  };
  struct Setter {
    uint32_t Row = NoRow;
    bool Stepped = false; ///< a loop moves it on
  };

  /// An instruction that writes where a register plus a number points.
  struct Store {
    int8_t Base;
    int64_t Disp;
    uint32_t Row;
    auto place() const { return std::pair(Base, Disp); }
  };

  const Body &B;
  std::vector<OriginRow> &Out;
  uint32_t Asked = NoRow;
  std::vector<Item> Todo;
  std::vector<std::pair<uint32_t, int8_t>> Numbers; ///< that are added, and
                                                    ///< before which row
  std::vector<Store> Stores;   ///< of the body, by place; made when asked for
  uint32_t FrameRegisters = 0; ///< that the stack pointer is copied to
  bool HasStores = false;
  bool WithEntry = false;       ///< rows of Given and Frame too
  bool EntryStepped = false;    ///< what settersOf found last may be moved on
  std::vector<int64_t> Sunk;    ///< by row, the stack pointer's way from entry
  std::vector<uint64_t> SeenIn; ///< by row, the last walk that came there
  uint64_t Walk = 0;

  void walk(int32_t Query);
  void operand(uint32_t Row, const MemOperand &M, const Item &From);
  void follow(const Item &From, int32_t Parent);
  void returned(const Item &From, const Op &Call, int32_t Query);
  void follow(const Item &From, int32_t Parent, const Setter &Set, bool Alone);
  void later(const Item &One);
  void readStores();
  uint32_t storeTo(uint32_t Row, const MemOperand &M);
  bool isHeld(uint32_t Load) const;
  void sink();
  void begin(uint32_t Row, Moved What, uint64_t Callee, uint32_t Number,
             int32_t Query);
  void value(uint32_t Row, int8_t Reg, int32_t Query);
  void vectorValue(uint32_t Row, bool Upper, int32_t Query);
  void moves(uint32_t Row, int32_t Query);
  void given(const Item &From, int32_t Parent);
  bool fromSlot(const Setter &Load, const MemOperand &M, Item Next);
  void number(uint32_t Row, int8_t Reg, int32_t Parent, unsigned Level = 0);
  bool walks(uint32_t Row, int8_t Reg, unsigned Level = 0);
  bool walksInFrame(const MemOperand &M);
  std::vector<Setter> settersOf(uint32_t Row, int8_t Reg, bool &FromEntry);
};

} // namespace linemate

#endif // LINEMATE_ACCESS_ORIGINS_H
