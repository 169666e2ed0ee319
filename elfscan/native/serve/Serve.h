//===- Serve.h - One helper for many requests -------------------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Loading a helper and its libraries takes longer than reading one member of an
// archive.  `HELPER --serve` is loaded once and forks for each request, so that
// every input still has a process of its own: its crash, its memory and its
// time are nobody else's.
//
// Standard input is a socket of packets.  A request carries three descriptors
// (standard input, output and error of the child) and, as its bytes, the limits
// of memory and of output (two 64-bit words, 0 for none) and the arguments,
// each ended by a NUL.  The answer is the child's wait status in 32 bits.  The
// end of the socket ends the helper, and its end the child.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_SERVE_H
#define LINEMATE_SERVE_H

#include "../confine/Confine.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace linemate {

struct ServeRequest {
  uint64_t Limits[3] = {0, 0, 0};
  int Descriptors[3] = {-1, -1, -1};
  std::vector<std::string> Arguments;
};

/// False at the end of the socket, or for what is no request.
inline bool receiveRequest(int Socket, ServeRequest &Request) {
  char Bytes[1 << 16];
  alignas(cmsghdr) char Control[CMSG_SPACE(sizeof Request.Descriptors)];
  iovec Part = {Bytes, sizeof Bytes};
  msghdr Message = {};
  Message.msg_iov = &Part;
  Message.msg_iovlen = 1;
  Message.msg_control = Control;
  Message.msg_controllen = sizeof Control;
  ssize_t Size = recvmsg(Socket, &Message, MSG_CMSG_CLOEXEC);
  cmsghdr *Header = CMSG_FIRSTHDR(&Message);
  if (Size < ssize_t(sizeof Request.Limits) || !Header ||
      Header->cmsg_len != CMSG_LEN(sizeof Request.Descriptors))
    return false;
  std::memcpy(Request.Descriptors, CMSG_DATA(Header),
              sizeof Request.Descriptors);
  std::memcpy(Request.Limits, Bytes, sizeof Request.Limits);
  for (char *At = Bytes + sizeof Request.Limits, *End = Bytes + Size;
       At < End;) {
    char *Stop = static_cast<char *>(std::memchr(At, 0, size_t(End - At)));
    if (!Stop)
      return false;
    Request.Arguments.emplace_back(At, Stop);
    At = Stop + 1;
  }
  return true;
}

inline void limitTo(decltype(RLIMIT_DATA) What, uint64_t Bytes) {
  rlimit Limit = {Bytes, Bytes};
  if (Bytes)
    setrlimit(What, &Limit);
}

/// Runs `Main` in a child for each request until there are no more.
inline int serve(const char *Name, int (*Main)(int, char **)) {
  dieWithParent();
  for (;;) {
    ServeRequest Request;
    if (!receiveRequest(STDIN_FILENO, Request))
      return 0;
    pid_t Server = getpid();
    pid_t Child = fork();
    if (Child == 0) {
      // Whose end is its own, and when it ends by itself, for confineTool.
      dieWithParent(Server);
      setenv("LINEMATE_PARENT_PID", std::to_string(Server).c_str(), 1);
      setenv("LINEMATE_LIMIT_S", std::to_string(Request.Limits[2]).c_str(), 1);
      for (int I = 0; I < 3; ++I)
        if (dup2(Request.Descriptors[I], I) < 0)
          _exit(1);
      limitTo(RLIMIT_DATA, Request.Limits[0]);
      limitTo(RLIMIT_FSIZE, Request.Limits[1]);
      std::vector<char *> Argv = {const_cast<char *>(Name)};
      for (std::string &Argument : Request.Arguments)
        Argv.push_back(Argument.data());
      Argv.push_back(nullptr);
      int Code = Main(int(Argv.size()) - 1, Argv.data());
      std::fflush(nullptr);
      // Not exit: destructors of a large library would copy its pages.
      _exit(Code);
    }
    for (int Descriptor : Request.Descriptors)
      close(Descriptor);
    int Status = 1 << 8; // as of a child that exits with 1
    if (Child > 0)
      waitpid(Child, &Status, 0);
    int32_t Answer = Status;
    if (send(STDIN_FILENO, &Answer, sizeof Answer, MSG_NOSIGNAL) < 0)
      return 0;
  }
}

} // namespace linemate

#endif
