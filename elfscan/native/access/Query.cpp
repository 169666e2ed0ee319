//===- Query.cpp - Questions about given functions ------------------------===//
//
// Owns the checks that make a query safe to answer, and the answer's form.
//
//===----------------------------------------------------------------------===//

#include "Query.h"
#include "Architectures.h"
#include "RawRows.h"

#include <algorithm>
#include <cstring>

namespace linemate {

namespace {

constexpr char QueryMagic[8] = {'L', 'M', 'Q', 'U', 'E', 'R', 'Y', '1'};
constexpr char AnswerMagic[8] = {'L', 'M', 'A', 'N', 'S', 'W', 'R', '1'};
/// The largest functions of servers have 200 kB.
constexpr uint64_t MaxFunctionBytes = 1 << 20;
/// Instructions before and after the one whose text is asked for.
constexpr uint32_t TextAround = 4;

struct QueryHeader {
  char Magic[8];
  uint32_t Arch, Kind;
  uint64_t ImageBegin, ImageEnd;
  int32_t FutexNumber;
  int8_t NumberRegister, OperationRegister;
  uint16_t Reserved;
  uint64_t Functions, Addresses;
};

struct RawExtent {
  uint64_t Address, Size;
};

struct AnswerHeader {
  char Magic[8];
  uint64_t Kind;
  uint64_t First, Second; ///< rows of the two tables
};

template <typename First, typename Second>
bool write(std::FILE *Out, QueryKind Kind, const std::vector<First> &One,
           const std::vector<Second> &Other) {
  AnswerHeader Head = {};
  std::memcpy(Head.Magic, AnswerMagic, sizeof AnswerMagic);
  Head.Kind = uint64_t(Kind);
  Head.First = One.size();
  Head.Second = Other.size();
  return std::fwrite(&Head, sizeof Head, 1, Out) == 1 && writeRows(Out, One) &&
         writeRows(Out, Other) && std::fflush(Out) == 0;
}

/// Decodes each function that is asked about, and calls \p Each with the number
/// of an address and its row in \p B, NoRow where no instruction begins there.
/// \p Enter is called before the first of a function.
template <typename EnterFunction, typename EachAddress>
void visit(const Query &Q, Decoder &D, Body &B, EnterFunction Enter,
           EachAddress Each) {
  int32_t Built = -1;
  for (size_t At = 0; At < Q.Addresses.size(); ++At) {
    const AskedAddress &Asked = Q.Addresses[At];
    if (Asked.Function >= 0 && Asked.Function != Built) {
      Built = Asked.Function;
      const Bytes &F = Q.Functions[size_t(Built)];
      B.build(D, F.Data, F.Begin);
      Enter();
    }
    Each(At, Asked.Function < 0 ? NoRow : B.at(Asked.Ip));
  }
}

void answerOperands(const Query &Q, Decoder &D, Answer &Out) {
  Body B(D.convention());
  OperandWriter Writer(B, Q.Futex);
  visit(
      Q, D, B, [&] { Writer.enter(); },
      [&](size_t At, uint32_t Row) {
        const AskedAddress &Asked = Q.Addresses[At];
        if (Row == NoRow)
          Writer.nothing(Asked.Ip, Asked.Function);
        else
          Writer.point(Row, Asked.Function);
      });
  Out.Points = std::move(Writer.Points);
  Out.Operands = std::move(Writer.Operands);
}

void answerOrigins(const Query &Q, Decoder &D, Answer &Out) {
  Body B(D.convention());
  OriginFinder Finder(B, Out.Origins);
  visit(
      Q, D, B, [&] { Finder.enter(); },
      [&](size_t At, uint32_t Row) {
        if (Row == NoRow)
          return;
        if (Q.Kind == QueryKind::Handed)
          Finder.findHanded(Row, Q.Addresses[At].Argument, int32_t(At));
        else if (Q.Kind == QueryKind::Moves)
          Finder.findMoves(int32_t(At));
        else
          Finder.find(Row, int32_t(At));
      });
}

void answerText(const Query &Q, Decoder &D, Printer &P, Answer &Out) {
  Body B(D.convention());
  visit(
      Q, D, B, [] {},
      [&](size_t At, uint32_t Row) {
        if (Row == NoRow)
          return;
        const Bytes &F = Q.Functions[size_t(Q.Addresses[At].Function)];
        uint32_t End = std::min(Row + TextAround + 1, B.size());
        for (uint32_t I = Row - std::min(Row, TextAround); I < End; ++I) {
          const Op &O = B.op(I);
          P.print(F.Data.subspan(O.Ip - F.Begin, O.Length), O.Ip, Out.Letters);
          Out.Lines.push_back(
              {O.Ip, uint32_t(At), uint32_t(Out.Letters.size())});
        }
      });
}

void answerTargets(const Query &Q, Decoder &D, Answer &Out) {
  Op O;
  for (const Bytes &F : Q.Functions) {
    std::span<const uint8_t> Code = F.Data;
    for (uint64_t Ip = F.Begin; !Code.empty() && D.decode(Code, Ip, O);
         Ip = O.end(), Code = Code.subspan(O.Length))
      if (uint64_t To = targetOf(O); To && (To < F.Begin || To >= F.end()))
        Out.Targets.push_back(To);
  }
  std::ranges::sort(Out.Targets);
  auto Same = std::ranges::unique(Out.Targets);
  Out.Targets.erase(Same.begin(), Same.end());
}

void answerInstructions(const Query &Q, Normaliser &N, Answer &Out) {
  for (const Bytes &F : Q.Functions) {
    Surroundings Around = {{F.Begin, F.end()}, Q.Image};
    for (size_t At = 0; At < F.Data.size();) {
      InstructionRow Row = N.read(F.Data.subspan(At), F.Begin + At, Around);
      Row.Offset = uint32_t(At);
      Out.Instructions.push_back(Row);
      At += Row.Length;
    }
    Out.Ends.push_back(Out.Instructions.size());
  }
}

} // namespace

std::optional<std::string> Query::parse(std::span<const uint8_t> Raw) {
  std::vector<QueryHeader> Head;
  std::vector<RawExtent> Extents;
  if (!take(Raw, 1, Head) ||
      std::memcmp(Head[0].Magic, QueryMagic, sizeof QueryMagic))
    return "the query has no header";
  if (!findArchitecture(Head[0].Arch))
    return "the query names an unknown architecture";
  if (Head[0].Kind < uint32_t(QueryKind::Operands) ||
      Head[0].Kind > uint32_t(QueryKind::Moves))
    return "the query asks for something unknown";
  if (!take(Raw, Head[0].Functions, Extents) ||
      !take(Raw, Head[0].Addresses, Addresses))
    return "the query's tables do not match its header";
  Machine = Arch(Head[0].Arch);
  Kind = QueryKind(Head[0].Kind);
  Image = {Head[0].ImageBegin, Head[0].ImageEnd};
  Futex = {Head[0].FutexNumber, Head[0].NumberRegister,
           Head[0].OperationRegister};
  for (const RawExtent &F : Extents) {
    if (F.Size > MaxFunctionBytes)
      return "the query has a function of " + std::to_string(F.Size) + " bytes";
    if (F.Size > Raw.size())
      return "the query lacks code of a function";
    if (F.Address + F.Size < F.Address)
      return "the query has a function that wraps the address space";
    Functions.push_back({F.Address, Raw.first(F.Size)});
    Raw = Raw.subspan(F.Size);
  }
  if (!Raw.empty())
    return "the query has a tail";
  int32_t Last = -1;
  for (const AskedAddress &A : Addresses) {
    if (A.Function < -1 || A.Function >= int64_t(Functions.size()))
      return "the query names a function that it does not have";
    if (A.Function >= 0 && A.Function < Last)
      return "the query's addresses are not in order";
    Last = std::max(Last, A.Function);
  }
  return std::nullopt;
}

std::optional<std::string> answer(const Query &Q, Answer &Out) {
  constexpr const char *Unsupported =
      "the disassembler does not support this architecture";
  const Architecture *A = findArchitecture(uint32_t(Q.Machine));
  if (!A)
    return Unsupported;
  if (Q.Kind == QueryKind::Instructions) {
    std::unique_ptr<Normaliser> N =
        A->MakeNormaliser ? A->MakeNormaliser() : nullptr;
    if (!N)
      return Unsupported;
    answerInstructions(Q, *N, Out);
    return std::nullopt;
  }
  std::unique_ptr<Decoder> D = A->Make();
  if (!D)
    return Unsupported;
  if (Q.Kind == QueryKind::Text) {
    std::unique_ptr<Printer> P = Printer::open(*A);
    if (!P)
      return Unsupported;
    answerText(Q, *D, *P, Out);
  } else if (Q.Kind == QueryKind::Operands)
    answerOperands(Q, *D, Out);
  else if (Q.Kind == QueryKind::Origins || Q.Kind == QueryKind::Handed ||
           Q.Kind == QueryKind::Moves)
    answerOrigins(Q, *D, Out);
  else
    answerTargets(Q, *D, Out);
  return std::nullopt;
}

bool writeAnswer(std::FILE *Out, QueryKind Kind, const Answer &A) {
  switch (Kind) {
  case QueryKind::Operands:
    return write(Out, Kind, A.Points, A.Operands);
  case QueryKind::Targets:
    return write(Out, Kind, A.Targets, std::vector<uint64_t>());
  case QueryKind::Instructions:
    return write(Out, Kind, A.Ends, A.Instructions);
  case QueryKind::Origins:
  case QueryKind::Handed:
  case QueryKind::Moves:
    return write(Out, Kind, A.Origins, std::vector<uint64_t>());
  case QueryKind::Text:
    return write(Out, Kind, A.Lines, A.Letters);
  }
  return false;
}

} // namespace linemate
