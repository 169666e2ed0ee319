//===- Frame.cpp - A unit's result between processes ----------------------===//
//
// Owns reading and writing frames; see Frame.h.
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/socket.h>
#include <sys/wait.h>

namespace linemate {

namespace {

void appendString(std::string &Out, const std::string &Text) {
  uint64_t Size = Text.size();
  Out.append(reinterpret_cast<const char *>(&Size), sizeof Size);
  Out += Text;
}

bool takeString(llvm::StringRef &In, std::string &Out) {
  uint64_t Size = 0;
  if (In.size() < sizeof Size)
    return false;
  std::memcpy(&Size, In.data(), sizeof Size);
  In = In.drop_front(sizeof Size);
  if (Size > In.size())
    return false;
  Out = In.take_front(Size).str();
  In = In.drop_front(Size);
  return true;
}

} // namespace

bool sendAll(int Socket, const char *Data, size_t Size) {
  while (Size) {
    ssize_t Written = ::send(Socket, Data, Size, MSG_NOSIGNAL);
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return false;
    Data += Written;
    Size -= size_t(Written);
  }
  return true;
}

bool receiveAll(int Socket, char *Data, size_t Size) {
  while (Size) {
    ssize_t Got = ::recv(Socket, Data, Size, 0);
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0)
      return false;
    Data += Got;
    Size -= size_t(Got);
  }
  return true;
}

std::string frame(const UnitResult &R) {
  std::string Out(sizeof(uint64_t), '\0');
  Out.reserve(R.Json.size() + R.Failure.size() + 64);
  appendString(Out, R.Json);
  appendString(Out, R.Failure);
  appendString(Out, R.Inputs);
  for (const std::string &Flag : R.Dropped)
    appendString(Out, Flag);
  uint64_t Size = Out.size() - sizeof(uint64_t);
  std::memcpy(Out.data(), &Size, sizeof Size);
  return Out;
}

bool unframe(llvm::StringRef In, UnitResult &Out) {
  if (!takeString(In, Out.Json) || !takeString(In, Out.Failure) ||
      !takeString(In, Out.Inputs))
    return false;
  std::string Flag;
  while (!In.empty()) {
    if (!takeString(In, Flag))
      return false;
    Out.Dropped.push_back(Flag);
  }
  return true;
}

std::string reasonOfEnd(int Status, uint64_t MemoryBytes) {
  if (WIFEXITED(Status))
    return WEXITSTATUS(Status) == OutOfMemoryStatus
               ? "needs more than " + std::to_string(MemoryBytes >> 20) +
                     " MB of memory"
               : "the analysis ended with status " +
                     std::to_string(WEXITSTATUS(Status));
  int Signal = WTERMSIG(Status);
  const char *Name = sigabbrev_np(Signal);
  return "the analysis crashed (SIG" +
         (Name ? std::string(Name) : std::to_string(Signal)) + ")";
}

} // namespace linemate
