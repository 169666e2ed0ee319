//===- Tables.cpp - What a scan found -------------------------------------===//
//
// Owns the output file: a header of counts, the tables one after another,
// then named counters.
//
//===----------------------------------------------------------------------===//

#include "Tables.h"
#include "RawRows.h"

#include <algorithm>
#include <cstring>

namespace linemate {

namespace {

constexpr char TablesMagic[8] = {'L', 'M', 'A', 'C', 'C', 'S', '7', '\0'};

struct TablesHeader {
  char Magic[8];
  uint64_t Sites, Calls, Args, Params, ZeroRanges, Kept, Blocks, Behind,
      BehindArgs, Held, AddressTaken, Counters;
};

struct Counter {
  char Name[32];
  uint64_t Value;
};

template <typename Row>
uint64_t total(const std::vector<Tables> &Parts,
               std::vector<Row> Tables::*Member) {
  uint64_t Sum = 0;
  for (const Tables &Part : Parts)
    Sum += (Part.*Member).size();
  return Sum;
}

template <typename Row>
bool writeAll(std::FILE *Out, const std::vector<Tables> &Parts,
              std::vector<Row> Tables::*Member) {
  return std::all_of(Parts.begin(), Parts.end(), [&](const Tables &Part) {
    return writeRows(Out, Part.*Member);
  });
}

} // namespace

void Counts::add(const Counts &Other) {
  Functions += Other.Functions;
  Instructions += Other.Instructions;
  CodeBytes += Other.CodeBytes;
  UndecodedBytes += Other.UndecodedBytes;
  SegmentOperands += Other.SegmentOperands;
  Branches += Other.Branches;
  OutsideBranches += Other.OutsideBranches;
  UnknownCalls += Other.UnknownCalls;
  IndirectJumps += Other.IndirectJumps;
  JumpTables += Other.JumpTables;
  GaveUp += Other.GaveUp;
}

bool writeTables(std::FILE *Out, const std::vector<Tables> &Parts,
                 uint64_t OverlappingFunctions, uint64_t UnreadableFunctions) {
  Counts Sum;
  std::vector<uint64_t> Taken;
  for (const Tables &Part : Parts) {
    Sum.add(Part.Seen);
    Taken.insert(Taken.end(), Part.AddressTaken.begin(),
                 Part.AddressTaken.end());
  }
  std::sort(Taken.begin(), Taken.end());
  Taken.erase(std::unique(Taken.begin(), Taken.end()), Taken.end());

  std::vector<Counter> Counters;
  auto Note = [&](const char *Name, uint64_t Value) {
    Counter C = {};
    std::strncpy(C.Name, Name, sizeof C.Name - 1);
    C.Value = Value;
    Counters.push_back(C);
  };
  Note("scanned_functions", Sum.Functions);
  Note("overlapping_functions", OverlappingFunctions);
  Note("unreadable_functions", UnreadableFunctions);
  Note("instructions", Sum.Instructions);
  Note("code_bytes", Sum.CodeBytes);
  Note("undecoded_bytes", Sum.UndecodedBytes);
  Note("segment_operands", Sum.SegmentOperands);
  Note("branches", Sum.Branches);
  Note("outside_branches", Sum.OutsideBranches);
  Note("unknown_calls", Sum.UnknownCalls);
  Note("indirect_jumps", Sum.IndirectJumps);
  Note("jump_tables", Sum.JumpTables);
  Note("gave_up_blocks", Sum.GaveUp);

  TablesHeader Head = {};
  std::memcpy(Head.Magic, TablesMagic, sizeof TablesMagic);
  Head.Sites = total(Parts, &Tables::Sites);
  Head.Calls = total(Parts, &Tables::Calls);
  Head.Args = total(Parts, &Tables::Args);
  Head.Params = total(Parts, &Tables::Params);
  Head.ZeroRanges = total(Parts, &Tables::ZeroRanges);
  Head.Kept = total(Parts, &Tables::Kept);
  Head.Blocks = total(Parts, &Tables::Blocks);
  Head.Behind = total(Parts, &Tables::Behind);
  Head.BehindArgs = total(Parts, &Tables::BehindArgs);
  Head.Held = total(Parts, &Tables::Held);
  Head.AddressTaken = Taken.size();
  Head.Counters = Counters.size();
  return std::fwrite(&Head, sizeof Head, 1, Out) == 1 &&
         writeAll(Out, Parts, &Tables::Sites) &&
         writeAll(Out, Parts, &Tables::Calls) &&
         writeAll(Out, Parts, &Tables::Args) &&
         writeAll(Out, Parts, &Tables::Params) &&
         writeAll(Out, Parts, &Tables::ZeroRanges) &&
         writeAll(Out, Parts, &Tables::Kept) &&
         writeAll(Out, Parts, &Tables::Blocks) &&
         writeAll(Out, Parts, &Tables::Behind) &&
         writeAll(Out, Parts, &Tables::BehindArgs) &&
         writeAll(Out, Parts, &Tables::Held) && writeRows(Out, Taken) &&
         writeRows(Out, Counters) && std::fflush(Out) == 0;
}

} // namespace linemate
