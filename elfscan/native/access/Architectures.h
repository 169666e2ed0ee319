//===- Architectures.h - The architectures that are decoded -----*- C++ -*-===//
//
// Owns the type of a row and the search.  What Python knows of an architecture
// stands in sharing/model/arch; name and number are the same there.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_ARCHITECTURES_H
#define LINEMATE_ACCESS_ARCHITECTURES_H

#include "Decoder.h"
#include "Normal.h"
#include "Op.h"
#include "Plan.h"

#include <capstone/capstone.h>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace linemate {

/// How code names an address: as it is, by its page, or by what is loaded from
/// there.
enum class Naming : uint8_t { Whole, Page, Loaded };
/// Whether an address that is named so is looked for.
using WantedAddresses = std::function<bool(uint64_t Address, Naming How)>;

struct Architecture {
  Arch Number;
  const char *Name;
  /// Null when the disassembler library cannot be opened.
  std::unique_ptr<Decoder> (*Make)();
  /// What the disassembler library calls it.  None: it does not know it, and
  /// instructions are not printed.
  cs_arch Library = CS_ARCH_ALL;
  cs_mode LibraryMode = CS_MODE_LITTLE_ENDIAN;
  /// Null: the code of two builds cannot be compared.
  std::unique_ptr<Normaliser> (*MakeNormaliser)() = nullptr;
  /// Rewrites the op that comes after \p Before in \p F where its meaning is in
  /// the code that it leads to.  Null: there is no such idiom.
  void (*Simplify)(const Plan &P, const Function &F, std::span<const Op> Before,
                   Op &O) = nullptr;
  /// What the global pointer holds in all code of the plan.  Null: there is no
  /// such register.
  std::optional<uint64_t> (*GlobalPointer)(const Plan &P) = nullptr;
  /// Of functions that Go's compiler made.  Null: not known, they are read like
  /// those of C.
  const Convention *Go = nullptr;
  /// Whether these bytes may hold an instruction that names the storage of the
  /// running thread.  Null: any may.
  bool (*NamesThread)(std::span<const uint8_t> Code) = nullptr;
  /// Whether these bytes, at \p Begin, may hold an instruction that names one
  /// of the addresses \p Wanted, as where it leads or in a register that can
  /// hold it until the function returns it.  Null: any may.
  bool (*NamesAddress)(std::span<const uint8_t> Code, uint64_t Begin,
                       const WantedAddresses &Wanted) = nullptr;
};

std::span<const Architecture *const> architectures();

/// Null where no row has the number.
const Architecture *findArchitecture(uint32_t Number);

} // namespace linemate

#endif // LINEMATE_ACCESS_ARCHITECTURES_H
