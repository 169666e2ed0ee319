//===- Emit.cpp - Facts as JSON -------------------------------------------===//
//
// Owns field names and order.  What facts.py gives a default is left out when
// it has that value.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

namespace linemate {

namespace {

void integers(JsonText &Out, std::initializer_list<int64_t> Values) {
  for (int64_t Value : Values)
    Out.value(Value);
}

void write(JsonText &Out, const LockFact &L) {
  Out.open('[');
  integers(Out, {int64_t(L.In), L.Id, L.Record, L.Offset, L.Stride});
  Out.value(L.Shared);
  Out.value(L.Row);
  Out.value(L.Text);
  Out.close(']');
}

void write(JsonText &Out, const StartFact &S) {
  Out.open('[');
  Out.value(S.Entry);
  Out.value(S.Api);
  Out.value(S.Many);
  integers(Out, {S.File, S.Line, S.Column, S.LoopDepth, S.Rarity, S.Order});
  Out.close(']');
}

void write(JsonText &Out, const AllocationFact &A) {
  Out.open('[');
  Out.value(A.Api);
  integers(Out, {A.Record, A.Guarantee, A.File, A.Line, A.Column});
  Out.close(']');
}

void write(JsonText &Out, const MemberFact &M) {
  Out.open('[');
  Out.value(M.Name);
  Out.value(M.OffsetBits);
  Out.raw(M.Type);
  Out.value(M.BitSize);
  Out.value(M.IsBase);
  integers(Out, {M.DeclaredAlign, M.File, M.Line, M.Column, M.Begin, M.End});
  Out.list(M.Macros);
  Out.value(M.GuardedBy);
  Out.value(M.Text);
  Out.close(']');
}

template <typename T>
void facts(JsonText &Out, llvm::StringRef Name, const std::vector<T> &Items) {
  if (Items.empty())
    return;
  Out.key(Name);
  Out.open('[');
  for (const T &Item : Items)
    write(Out, Item);
  Out.close(']');
}

} // namespace

void write(JsonText &Out, const FunctionFacts &F) {
  Out.open('{');
  Out.field("identity", F.Identity);
  Out.field("symbol", F.Symbol);
  Out.field("name", F.Name);
  Out.field("file", F.File);
  Out.field("line", F.Line);
  Out.field("column", F.Column);
  Out.field("bits", F.Bits);
  Out.optional("accesses", F.Accesses);
  Out.optional("calls", F.Calls);
  Out.optional("args", F.Args);
  facts(Out, "locks", F.Locks);
  if (F.Locksets.size() > 1) {
    Out.key("locksets");
    Out.open('[');
    for (const Rows &Lockset : F.Locksets)
      Out.list(Lockset);
    Out.close(']');
  }
  Out.optional("lock_ops", F.LockOps);
  facts(Out, "starts", F.Starts);
  facts(Out, "allocations", F.Allocations);
  Out.optional("requires", F.Requires);
  Out.optional("acquires", F.Acquires);
  Out.optional("releases", F.Releases);
  Out.optional("taken", F.Taken);
  Out.optional("names", F.Names);
  Out.close('}');
}

void write(JsonText &Out, const RecordFacts &R) {
  Out.open('{');
  Out.field("key", R.Key);
  Out.field("name", R.Name);
  Out.field("bits", R.Bits);
  Out.field("size", R.Size);
  Out.field("align", R.Align);
  Out.field("declared_align", R.DeclaredAlign);
  Out.field("file", R.File);
  Out.field("line", R.Line);
  Out.field("column", R.Column);
  Out.field("begin", R.Begin);
  Out.field("end", R.End);
  Out.key("members");
  Out.open('[');
  for (const MemberFact &M : R.Members)
    write(Out, M);
  Out.close(']');
  Out.optional("macros", R.Macros);
  Out.optional("align_text", llvm::StringRef(R.AlignText));
  Out.close('}');
}

void write(JsonText &Out, const VariableFacts &V) {
  Out.open('{');
  Out.field("identity", V.Identity);
  Out.field("symbol", V.Symbol);
  Out.field("name", V.Name);
  Out.field("scope", V.Scope);
  Out.key("type");
  Out.raw(V.Type);
  Out.field("size", V.Size);
  Out.field("align", V.Align);
  Out.field("declared_align", V.DeclaredAlign);
  Out.field("section", V.Section);
  Out.field("bits", V.Bits);
  Out.field("init", int64_t(V.Init));
  Out.field("order", V.Order);
  Out.field("file", V.File);
  Out.field("line", V.Line);
  Out.field("column", V.Column);
  Out.field("begin", V.Begin);
  Out.field("end", V.End);
  Out.field("name_begin", V.NameBegin);
  Out.optional("type_text", V.TypeText);
  Out.optional("align_text", llvm::StringRef(V.AlignText));
  Out.optional("text", V.Text);
  Out.optional("macros", V.Macros);
  Out.optional("guarded_by", llvm::StringRef(V.GuardedBy));
  if (!V.Declarations.empty()) {
    Out.key("declarations");
    Out.open('[');
    for (const auto &[File, Line, Begin, End] : V.Declarations) {
      Out.open('[');
      integers(Out, {File, Line, Begin, End});
      Out.close(']');
    }
    Out.close(']');
  }
  Out.optional("refers", V.Refers);
  Out.close('}');
}

void write(JsonText &Out, const UnitOptions &O) {
  Out.open('{');
  Out.field("compiler", O.Compiler);
  Out.field("level", O.Level);
  Out.field("pic", O.Pic);
  Out.field("common", O.Common);
  Out.field("data_sections", O.DataSections);
  Out.field("toplevel_reorder", O.ToplevelReorder);
  Out.field("section_anchors", O.SectionAnchors);
  Out.field("pie", O.Pie);
  Out.close('}');
}

} // namespace linemate
