//===- Main.cpp - linemate-access -----------------------------------------===//
//
// Usage: linemate-access BINARY [THREADS] <PLAN >TABLES
//        linemate-access --query <QUERY >ANSWER
//        linemate-access --serve <SOCKET (Serve.h)
//        linemate-access --architectures
//        linemate-access --confinement
//
// Reads a plan (Plan.cpp) from standard input, writes the tables (Tables.cpp)
// to standard output; or reads a query (Query.cpp) and writes its answer.  Any
// failure is one line on standard error and exit status 1.  Never runs the
// binary.
//
//===----------------------------------------------------------------------===//

#include "../serve/Serve.h"
#include "Architectures.h"
#include "Confine.h"
#include "Plan.h"
#include "Query.h"
#include "Scan.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>

using namespace linemate;

namespace {

constexpr unsigned MaxThreads = 16;

int fail(const std::string &Why) {
  std::fprintf(stderr, "%s\n", Why.c_str());
  return 1;
}

std::vector<uint8_t> readAll(std::FILE *In) {
  std::vector<uint8_t> Bytes;
  size_t Filled = 0;
  do {
    Bytes.resize(std::max<size_t>(Filled * 2, 1 << 16));
    Filled += std::fread(Bytes.data() + Filled, 1, Bytes.size() - Filled, In);
  } while (Filled == Bytes.size());
  Bytes.resize(Filled);
  return Bytes;
}

int run(int Argc, char **Argv) {
  if (Argc < 2 || Argc > 3)
    return fail("usage: linemate-access BINARY [THREADS] <PLAN >TABLES, or "
                "linemate-access --query <QUERY >ANSWER");
  unsigned Threads = Argc == 3 ? unsigned(std::atoi(Argv[2]))
                               : std::thread::hardware_concurrency();
  MappedFile File;
  if (auto Why = File.open(Argv[1]))
    return fail(*Why);
  Plan P;
  if (auto Why = P.parse(readAll(stdin), File.bytes()))
    return fail(*Why);
  std::vector<Tables> Parts;
  if (auto Why = scan(P, std::clamp(Threads, 1u, MaxThreads), Parts))
    return fail(*Why);
  if (!writeTables(stdout, Parts, P.OverlappingFunctions,
                   P.UnreadableFunctions))
    return fail("cannot write the tables");
  return 0;
}

int runQuery() {
  std::vector<uint8_t> Raw = readAll(stdin);
  Query Q;
  if (auto Why = Q.parse(Raw))
    return fail(*Why);
  Answer A;
  if (auto Why = answer(Q, A))
    return fail(*Why);
  return writeAnswer(stdout, Q.Kind, A) ? 0 : fail("cannot write the answer");
}

/// One line each: number, name, stack pointer, registers of arguments, all by
/// perf's numbers.
void listArchitectures() {
  for (const Architecture *Row : architectures()) {
    std::unique_ptr<Decoder> D = Row->Make();
    if (!D)
      continue;
    const Convention &C = D->convention();
    std::printf("%u %s %d", unsigned(Row->Number), Row->Name,
                C.perfNumber(C.StackPointer));
    for (int8_t Register : C.Arguments)
      std::printf(" %d", C.perfNumber(Register));
    std::puts("");
  }
}

} // namespace

static int one(int Argc, char **Argv) {
  // Memory is limited by the caller; the standard library reports that by an
  // exception, which ends here.
  Confinement Now = confineTool("linemate-access");
  if (Argc == 2 && std::string_view(Argv[1]) == "--confinement") {
    std::puts(Now.text().c_str());
    return 0;
  }
  if (Argc == 2 && std::string_view(Argv[1]) == "--architectures") {
    listArchitectures();
    return 0;
  }
  try {
    if (Argc == 2 && std::string_view(Argv[1]) == "--query")
      return runQuery();
    return run(Argc, Argv);
  } catch (const std::bad_alloc &) {
    return fail("out of memory");
  } catch (const std::exception &Error) {
    return fail(Error.what());
  }
}

int main(int Argc, char **Argv) {
  if (Argc == 2 && std::string_view(Argv[1]) == "--serve")
    return serve(Argv[0], one);
  return one(Argc, Argv);
}
