//===- elf.cpp - Fuzz target: section headers of an ELF file --------------===//
//
// Owns nothing: the input is the file.  What linemate-dwarf does with section
// headers, compression, relocations and symbols is behind one call.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Bytes, size_t Size) {
  StringRef Content(reinterpret_cast<const char *>(Bytes), Size);
  linemate::dwarf::Options Opts;
  Opts.Path = "main";
  Opts.Threads = 1;
  Opts.AllRecords = true;
  auto Open = [&](StringRef Path)
      -> Expected<std::unique_ptr<linemate::dwarf::Object>> {
    // The file is its own split file, as with -gsplit-dwarf=single.
    if (Path != "main" && !Path.ends_with("main.dwo"))
      return nullptr;
    return linemate::dwarf::Object::read(
        MemoryBuffer::getMemBufferCopy(Content), Path);
  };
  raw_null_ostream Out;
  consumeError(linemate::dwarf::run(Opts, Out, Open));
  return 0;
}
