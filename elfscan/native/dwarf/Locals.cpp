//===- Locals.cpp - Where the variables of a function are -----------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Locals.h"
#include "FrameCheck.h"
#include "llvm/DebugInfo/DWARF/DWARFCompileUnit.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/DebugInfo/DWARF/DWARFDebugFrame.h"
#include "llvm/DebugInfo/DWARF/DWARFDie.h"
#include "llvm/DebugInfo/DWARF/DWARFExpression.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr unsigned MaxDepth = 64;         // of blocks and inlined functions
constexpr size_t MaxAtOnePlace = 256;     // variables
constexpr unsigned MaxReferences = 8;     // of types and origins
constexpr uint64_t UnwoundRegisters = 32; // general ones and the link

namespace {
/// What a location expression says, as far as it is one register and a number.
struct Expressed {
  RegisterPlus Where;
  bool InMemory = false;
  bool FromFrame = false; ///< Where.Register is not set: the frame's base
};
} // namespace

static std::unique_ptr<DWARFContext> contextOf(const Object &File) {
  auto Ignore = [](Error E) { consumeError(std::move(E)); };
  return DWARFContext::create(
      File.elf(), DWARFContext::ProcessDebugRelocations::Process,
      /*LoadedObjectInfo=*/nullptr, /*DWPName=*/"", Ignore, Ignore);
}

LocalFinder::LocalFinder(const Object &File, const Object &Frames)
    : Context(contextOf(File)) {
  if (&Frames != &File)
    FrameContext = contextOf(Frames);
  // LLVM says once that a unit is broken, and uses what it did not set up.
  for (const std::unique_ptr<DWARFUnit> &Unit : Context->compile_units())
    if (Error E = Unit->tryExtractDIEsIfNeeded(/*CUDieOnly=*/true)) {
      consumeError(std::move(E));
      Broken.insert(Unit->getOffset());
    }
}

LocalFinder::~LocalFinder() = default;

static std::optional<Expressed> parse(ArrayRef<uint8_t> Bytes,
                                      DWARFUnit &Unit) {
  DataExtractor Data(toStringRef(Bytes), Unit.isLittleEndian(),
                     Unit.getAddressByteSize());
  DWARFExpression Expression(Data, Unit.getAddressByteSize(),
                             Unit.getFormParams().Format);
  std::optional<Expressed> Found;
  for (const DWARFExpression::Operation &Op : Expression) {
    if (Op.isError())
      return std::nullopt;
    uint8_t Code = Op.getCode();
    if (Found) {
      // Behind a register and a number only this leaves it one value.
      if (Code != DW_OP_stack_value || !Found->InMemory || Found->FromFrame)
        return std::nullopt;
      Found->InMemory = false;
    } else if (Code >= DW_OP_reg0 && Code <= DW_OP_reg31) {
      Found = {{uint64_t(Code - DW_OP_reg0), 0}, false};
    } else if (Code == DW_OP_regx) {
      Found = {{Op.getRawOperand(0), 0}, false};
    } else if (Code >= DW_OP_breg0 && Code <= DW_OP_breg31) {
      Found = {{uint64_t(Code - DW_OP_breg0), int64_t(Op.getRawOperand(0))},
               true};
    } else if (Code == DW_OP_bregx) {
      Found = {{Op.getRawOperand(0), int64_t(Op.getRawOperand(1))}, true};
    } else if (Code == DW_OP_fbreg) {
      Found = {{0, int64_t(Op.getRawOperand(0))}, true, true};
    } else if (Code == DW_OP_call_frame_cfa) {
      Found = {{0, 0}, true, true};
    } else {
      return std::nullopt;
    }
  }
  return Found;
}

/// The expression of an attribute that counts at \p Ip.
static std::optional<Expressed> locationAt(DWARFDie Entry, Attribute Which,
                                           uint64_t Ip) {
  auto All = Entry.getLocations(Which);
  if (!All) {
    consumeError(All.takeError());
    return std::nullopt;
  }
  for (const DWARFLocationExpression &One : *All)
    if (!One.Range || (One.Range->LowPC <= Ip && Ip < One.Range->HighPC))
      return parse(One.Expr, *Entry.getDwarfUnit());
  return std::nullopt;
}

/// Notes where each frame's code is, once.
void LocalFinder::readFrames() {
  HasFrames = true;
  DWARFContext &From = FrameContext ? *FrameContext : *Context;
  const DWARFObject &File = From.getDWARFObj();
  for (bool IsEh : {true, false}) {
    DWARFDataExtractor Data(
        File, IsEh ? File.getEHFrameSection() : File.getFrameSection(),
        From.isLittleEndian(), File.getAddressSize());
    if (!isSafeToRead(Data, IsEh))
      continue;
    Expected<const DWARFDebugFrame *> Tables =
        IsEh ? From.getEHFrame() : From.getDebugFrame();
    if (!Tables) {
      consumeError(Tables.takeError());
      continue;
    }
    for (const llvm::dwarf::FrameEntry &Entry : (*Tables)->entries())
      if (const auto *Frame = dyn_cast<llvm::dwarf::FDE>(&Entry))
        Frames.emplace(Frame->getInitialLocation(), Frame);
  }
}

const llvm::dwarf::FDE *LocalFinder::frameAround(uint64_t Ip) {
  if (!HasFrames)
    readFrames();
  auto It = Frames.upper_bound(Ip);
  if (It == Frames.begin())
    return nullptr;
  const llvm::dwarf::FDE *Frame = std::prev(It)->second;
  return Ip - Frame->getInitialLocation() < Frame->getAddressRange() ? Frame
                                                                     : nullptr;
}

/// The row that holds at \p Ip.
static std::optional<UnwindRow> rowAt(const llvm::dwarf::FDE *Frame,
                                      uint64_t Ip) {
  if (!Frame)
    return std::nullopt;
  Expected<UnwindTable> Table = UnwindTable::create(Frame);
  if (!Table) {
    consumeError(Table.takeError());
    return std::nullopt;
  }
  std::optional<UnwindRow> Last;
  for (const UnwindRow &Row : *Table)
    if (Row.hasAddress() && Row.getAddress() <= Ip)
      Last = Row;
  if (!Last ||
      Last->getCFAValue().getLocation() != UnwindLocation::RegPlusOffset)
    return std::nullopt;
  return Last;
}

/// The canonical frame address at \p Ip by the unwind rows.
std::optional<RegisterPlus> LocalFinder::canonicalFrame(uint64_t Ip) {
  std::optional<UnwindRow> Row = rowAt(frameAround(Ip), Ip);
  if (!Row)
    return std::nullopt;
  const UnwindLocation &Frame = Row->getCFAValue();
  return RegisterPlus{Frame.getRegister(), Frame.getOffset()};
}

std::optional<UnwindStep> LocalFinder::unwind(uint64_t Ip) {
  const llvm::dwarf::FDE *Frame = frameAround(Ip);
  std::optional<UnwindRow> Row = rowAt(Frame, Ip);
  if (!Row || !Frame->getLinkedCIE())
    return std::nullopt;
  const UnwindLocation &Base = Row->getCFAValue();
  UnwindStep Step = {Ip,
                     {Base.getRegister(), Base.getOffset()},
                     Frame->getLinkedCIE()->getReturnAddressRegister(),
                     {}};
  for (uint64_t Register = 0; Register < UnwoundRegisters; ++Register) {
    auto At = Row->getRegisterLocations().getRegisterLocation(Register);
    if (!At || At->getLocation() == UnwindLocation::Same ||
        At->getLocation() == UnwindLocation::Unspecified)
      continue;
    if (*At == UnwindLocation::createAtCFAPlusOffset(At->getOffset()))
      Step.Saved.push_back({Register, At->getOffset()});
    else if (Register == Step.Return)
      return std::nullopt; // the outermost function, or said otherwise
  }
  return Step;
}

std::optional<RegisterPlus> LocalFinder::frameBase(DWARFDie Function,
                                                   uint64_t Ip) {
  std::optional<Expressed> Base = locationAt(Function, DW_AT_frame_base, Ip);
  if (!Base)
    return std::nullopt;
  return Base->FromFrame ? canonicalFrame(Ip) : Base->Where;
}

/// The variables of \p Parent and of the blocks in it that \p Ip is in.
void LocalFinder::collect(DWARFDie Parent, uint64_t Ip, uint64_t Function,
                          std::optional<RegisterPlus> Frame, unsigned Depth,
                          std::vector<LocalPlace> &Out) {
  for (DWARFDie Entry : Parent.children()) {
    if (Out.size() >= MaxAtOnePlace)
      return;
    switch (Entry.getTag()) {
    case DW_TAG_lexical_block:
      if (Depth < MaxDepth && Entry.addressRangeContainsAddress(Ip))
        collect(Entry, Ip, Function, Frame, Depth + 1, Out);
      break;
    case DW_TAG_variable:
    case DW_TAG_formal_parameter: {
      std::optional<Expressed> At = locationAt(Entry, DW_AT_location, Ip);
      if (!At || (At->FromFrame && !Frame))
        break;
      RegisterPlus Where = At->Where;
      if (At->FromFrame)
        Where = {Frame->Register, Frame->Offset + Where.Offset};
      Out.push_back({Ip, Entry.getOffset(), Function, Where, At->InMemory});
      break;
    }
    default:
      break;
    }
  }
}

/// What an entry refers to in its own unit: others may be broken.
static DWARFDie referenced(DWARFDie Entry, Attribute Which) {
  std::optional<DWARFFormValue> Value = Entry.find(Which);
  return Value && Value->getAsRelativeReference()
             ? Entry.getAttributeValueAsReferencedDie(*Value)
             : DWARFDie();
}

static DWARFDie withoutNames(DWARFDie Type) {
  for (unsigned Hops = 0; Type && Hops < MaxReferences; ++Hops) {
    if (Type.getTag() != DW_TAG_typedef && Type.getTag() != DW_TAG_const_type &&
        Type.getTag() != DW_TAG_volatile_type)
      return Type;
    Type = referenced(Type, DW_AT_type);
  }
  return DWARFDie();
}

/// Whether a type is a number of bytes: size_t, or as wide and unsigned.
static bool isSize(DWARFDie Type) {
  Type = withoutNames(Type);
  return Type && Type.getTag() == DW_TAG_base_type &&
         toUnsigned(Type.find(DW_AT_encoding), 0) == DW_ATE_unsigned &&
         toUnsigned(Type.find(DW_AT_byte_size), 0) ==
             Type.getDwarfUnit()->getAddressByteSize();
}

static bool pointsToRecord(DWARFDie Type) {
  Type = withoutNames(Type);
  if (!Type || Type.getTag() != DW_TAG_pointer_type)
    return false;
  Type = withoutNames(referenced(Type, DW_AT_type));
  return Type && (Type.getTag() == DW_TAG_structure_type ||
                  Type.getTag() == DW_TAG_class_type ||
                  Type.getTag() == DW_TAG_union_type);
}

static bool hasRecordVariable(DWARFDie Parent, unsigned Depth) {
  for (DWARFDie Entry : Parent.children()) {
    if (Entry.getTag() == DW_TAG_variable &&
        pointsToRecord(referenced(Entry, DW_AT_type)))
      return true;
    if (Entry.getTag() == DW_TAG_lexical_block && Depth < MaxDepth &&
        hasRecordVariable(Entry, Depth + 1))
      return true;
  }
  return false;
}

/// Whether a function is asked for a number of bytes and gives an address of no
/// type, and has no variable that points to a record: one that does knows what
/// the memory is for, and hides it from its callers.
static bool givesMemory(DWARFDie Function) {
  DWARFDie Result;
  bool HasSize = false;
  for (unsigned Hops = 0; Function && Hops < MaxReferences; ++Hops) {
    if (!Result)
      Result = withoutNames(referenced(Function, DW_AT_type));
    for (DWARFDie Entry : Function.children())
      HasSize |= Entry.getTag() == DW_TAG_formal_parameter &&
                 isSize(referenced(Entry, DW_AT_type));
    if (hasRecordVariable(Function, 0))
      return false;
    DWARFDie Origin = referenced(Function, DW_AT_abstract_origin);
    Function = Origin ? Origin : referenced(Function, DW_AT_specification);
  }
  return HasSize && Result && Result.getTag() == DW_TAG_pointer_type &&
         !Result.find(DW_AT_type);
}

FunctionsAt LocalFinder::at(uint64_t Ip, std::vector<LocalPlace> &Out) {
  FunctionsAt Found = {Ip, {}};
  DWARFCompileUnit *Unit = Context->getCompileUnitForCodeAddress(Ip);
  // LLVM looks for the function without asking whether the unit has entries.
  if (!Unit || Broken.count(Unit->getOffset()) ||
      !Unit->getUnitDIE(/*ExtractUnitDIEOnly=*/false))
    return Found;
  std::vector<DWARFDie> Around;
  DWARFDie Entry = Unit->getSubroutineForAddress(Ip);
  for (unsigned Depth = 0; Entry && Depth < MaxDepth; ++Depth) {
    if (Entry.isSubroutineDIE())
      Around.push_back(Entry);
    if (Entry.isSubprogramDIE())
      break;
    Entry = Entry.getParent();
  }
  if (Around.empty())
    return Found;
  std::optional<RegisterPlus> Frame = frameBase(Around.back(), Ip);
  std::vector<LocalPlace> Here;
  for (DWARFDie Function : Around) {
    uint64_t Low = 0, High = 0, Section = 0;
    bool Begins = Function.isSubprogramDIE() &&
                  Function.getLowAndHighPC(Low, High, Section) && Low == Ip;
    FunctionAt One = {Function.getOffset(),  0,     0, 0,
                      givesMemory(Function), Begins};
    uint32_t Discriminator = 0;
    if (Function.getTag() == DW_TAG_inlined_subroutine)
      Function.getCallerFrame(One.CallFile, One.CallLine, One.CallColumn,
                              Discriminator);
    Found.Functions.push_back(One);
    collect(Function, Ip, Function.getOffset(), Frame, 0, Here);
  }
  Out.insert(Out.end(), Here.begin(), Here.end());
  return Found;
}

} // namespace linemate::dwarf
