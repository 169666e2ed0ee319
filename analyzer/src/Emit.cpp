//===- Emit.cpp - Facts as JSON -------------------------------------------===//
//
// Owns field names and order.  What facts.py gives a default is left out when
// it has that value.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

namespace linemate {

static void write(JsonStream &Out, const LockFact &L) {
  Out.arrayBegin();
  writeEach(Out, {int64_t(L.In), L.Id, L.Record, L.Offset, L.Stride});
  write(Out, L.Shared);
  write(Out, L.Row);
  write(Out, L.Text);
  Out.arrayEnd();
}

static void write(JsonStream &Out, const StartFact &S) {
  Out.arrayBegin();
  write(Out, S.Entry);
  write(Out, S.Api);
  write(Out, S.Many);
  writeEach(Out, {S.File, S.Line, S.Column, S.LoopDepth, S.Rarity, S.Order,
                  S.Element});
  write(Out, S.Behind);
  write(Out, S.Local);
  Out.arrayEnd();
}

static void write(JsonStream &Out, const AllocationFact &A) {
  Out.arrayBegin();
  write(Out, A.Api);
  writeEach(Out, {A.Record, A.Guarantee, A.File, A.Line, A.Column});
  write(Out, A.ByNumber);
  writeEach(Out, {A.LoopDepth, A.Order, A.Count});
  Out.arrayEnd();
}

static void write(JsonStream &Out, const MemberFact &M) {
  Out.arrayBegin();
  write(Out, M.Name);
  write(Out, M.OffsetBits);
  Out.rawValue(M.Type);
  write(Out, M.BitSize);
  write(Out, M.IsBase);
  writeEach(Out, {M.DeclaredAlign, M.File, M.Line, M.Column, M.Begin, M.End});
  write(Out, M.Macros);
  write(Out, M.GuardedBy);
  write(Out, M.Text);
  Out.arrayEnd();
}

template <typename T>
static void facts(JsonStream &Out, llvm::StringRef Name,
                  const std::vector<T> &Items) {
  if (Items.empty())
    return;
  Out.attributeBegin(Name);
  Out.arrayBegin();
  for (const T &Item : Items)
    write(Out, Item);
  Out.arrayEnd();
  Out.attributeEnd();
}

void write(JsonStream &Out, const FunctionFacts &F) {
  Out.objectBegin();
  field(Out, "identity", F.Identity);
  field(Out, "symbol", F.Symbol);
  field(Out, "name", F.Name);
  field(Out, "file", F.File);
  field(Out, "line", F.Line);
  field(Out, "column", F.Column);
  field(Out, "bits", F.Bits);
  optional(Out, "accesses", F.Accesses);
  optional(Out, "calls", F.Calls);
  optional(Out, "args", F.Args);
  facts(Out, "locks", F.Locks);
  if (F.Locksets.size() > 1) {
    Out.attributeBegin("locksets");
    Out.arrayBegin();
    for (const Rows &Lockset : F.Locksets)
      write(Out, Lockset);
    Out.arrayEnd();
    Out.attributeEnd();
  }
  optional(Out, "lock_ops", F.LockOps);
  facts(Out, "starts", F.Starts);
  facts(Out, "allocations", F.Allocations);
  optional(Out, "requires", F.Requires);
  optional(Out, "acquires", F.Acquires);
  optional(Out, "releases", F.Releases);
  optional(Out, "taken", F.Taken);
  optional(Out, "names", F.Names);
  optional(Out, "zero_tests", F.ZeroTests);
  optional(Out, "blocks", F.Blocks);
  optional(Out, "loops", F.Loops);
  if (F.Promises)
    field(Out, "promises", F.Promises);
  Out.objectEnd();
}

void write(JsonStream &Out, const RecordFacts &R) {
  Out.objectBegin();
  field(Out, "key", R.Key);
  field(Out, "name", R.Name);
  field(Out, "bits", R.Bits);
  field(Out, "size", R.Size);
  field(Out, "align", R.Align);
  field(Out, "declared_align", R.DeclaredAlign);
  field(Out, "file", R.File);
  field(Out, "line", R.Line);
  field(Out, "column", R.Column);
  field(Out, "begin", R.Begin);
  field(Out, "end", R.End);
  Out.attributeBegin("members");
  Out.arrayBegin();
  for (const MemberFact &M : R.Members)
    write(Out, M);
  Out.arrayEnd();
  Out.attributeEnd();
  optional(Out, "macros", R.Macros);
  optional(Out, "align_text", R.AlignText);
  Out.objectEnd();
}

void write(JsonStream &Out, const VariableFacts &V) {
  Out.objectBegin();
  field(Out, "identity", V.Identity);
  field(Out, "symbol", V.Symbol);
  field(Out, "name", V.Name);
  field(Out, "scope", V.Scope);
  rawField(Out, "type", V.Type);
  field(Out, "size", V.Size);
  field(Out, "align", V.Align);
  field(Out, "declared_align", V.DeclaredAlign);
  field(Out, "section", V.Section);
  field(Out, "bits", V.Bits);
  field(Out, "init", int64_t(V.Init));
  field(Out, "order", V.Order);
  field(Out, "file", V.File);
  field(Out, "line", V.Line);
  field(Out, "column", V.Column);
  field(Out, "begin", V.Begin);
  field(Out, "end", V.End);
  field(Out, "name_begin", V.NameBegin);
  optional(Out, "type_text", V.TypeText);
  optional(Out, "align_text", V.AlignText);
  optional(Out, "text", V.Text);
  optional(Out, "macros", V.Macros);
  optional(Out, "guarded_by", V.GuardedBy);
  if (!V.Declarations.empty()) {
    Out.attributeBegin("declarations");
    Out.arrayBegin();
    for (const auto &[File, Line, Begin, End] : V.Declarations) {
      Out.arrayBegin();
      writeEach(Out, {File, Line, Begin, End});
      Out.arrayEnd();
    }
    Out.arrayEnd();
    Out.attributeEnd();
  }
  optional(Out, "refers", V.Refers);
  Out.objectEnd();
}

void write(JsonStream &Out, const UnitOptions &O) {
  Out.objectBegin();
  field(Out, "compiler", O.Compiler);
  field(Out, "level", O.Level);
  field(Out, "pic", O.Pic);
  field(Out, "common", O.Common);
  field(Out, "data_sections", O.DataSections);
  field(Out, "toplevel_reorder", O.ToplevelReorder);
  field(Out, "section_anchors", O.SectionAnchors);
  field(Out, "pie", O.Pie);
  Out.objectEnd();
}

} // namespace linemate
