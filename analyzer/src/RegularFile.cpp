//===- RegularFile.cpp - Reading that neither waits nor ends never --------===//
//
// Owns the words for what is no file to read.
//
//===----------------------------------------------------------------------===//

#include "RegularFile.h"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

using namespace llvm;

namespace linemate {

namespace {

enum Refusal { Directory = 1, Fifo, Device, Socket, Other, TooLarge };

class RefusalCategory : public std::error_category {
  const char *name() const noexcept override { return "linemate file"; }
  std::string message(int Value) const override {
    switch (Value) {
    case Directory:
      return "it is a folder";
    case Fifo:
      return "it is a FIFO, not a regular file";
    case Device:
      return "it is a device, not a regular file";
    case Socket:
      return "it is a socket, not a regular file";
    case TooLarge:
      return "it is too large";
    default:
      return "it is no regular file";
    }
  }
};

std::error_code refuse(Refusal Why) {
  static const RefusalCategory Category;
  return {Why, Category};
}

class Descriptor {
public:
  explicit Descriptor(int Number) : Number(Number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (Number >= 0)
      ::close(Number);
  }
  operator int() const { return Number; }

private:
  int Number;
};

bool isNullDevice(const struct stat &Info) {
  return S_ISCHR(Info.st_mode) && Info.st_rdev == makedev(1, 3);
}

std::error_code lastError() { return {errno, std::generic_category()}; }

} // namespace

std::error_code refusalOf(sys::fs::file_type Type) {
  switch (Type) {
  case sys::fs::file_type::regular_file:
    return {};
  case sys::fs::file_type::directory_file:
    return std::make_error_code(std::errc::is_a_directory);
  case sys::fs::file_type::fifo_file:
    return refuse(Fifo);
  case sys::fs::file_type::block_file:
  case sys::fs::file_type::character_file:
    return refuse(Device);
  case sys::fs::file_type::socket_file:
    return refuse(Socket);
  default:
    return refuse(Other);
  }
}

ErrorOr<std::unique_ptr<MemoryBuffer>>
readRegularFile(StringRef Path, uint64_t MaxBytes, bool Mapped) {
  std::string Name = Path.str();
  struct stat Info{};
  // Before it is opened: to open some devices is to use them.
  if (::stat(Name.c_str(), &Info))
    return lastError();
  if (isNullDevice(Info))
    return MemoryBuffer::getMemBufferCopy("", Name);
  if (!S_ISREG(Info.st_mode))
    return refuse(S_ISDIR(Info.st_mode)    ? Directory
                  : S_ISFIFO(Info.st_mode) ? Fifo
                  : S_ISSOCK(Info.st_mode) ? Socket
                                           : Device);
  // And after it: it may have been put there in between.
  Descriptor File(
      ::open(Name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (File < 0 || ::fstat(File, &Info))
    return lastError();
  if (!S_ISREG(Info.st_mode))
    return refuse(Other);
  if (uint64_t(Info.st_size) > MaxBytes)
    return refuse(TooLarge);
  return MemoryBuffer::getOpenFile(File, Name, uint64_t(Info.st_size),
                                   /*RequiresNullTerminator=*/true,
                                   /*IsVolatile=*/!Mapped);
}

} // namespace linemate
