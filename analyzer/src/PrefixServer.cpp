//===- PrefixServer.cpp - A parser that forks for each unit ---------------===//
//
// Owns the point in the preprocessor at which the main file changes, and the
// processes around it.
//
//===----------------------------------------------------------------------===//

#include "Prefix.h"

#include "Confine.h"
#include "Frame.h"
#include "UnitTask.h"
#include "Workers.h"

#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace clang;
using llvm::StringRef;

namespace linemate {

namespace {

constexpr size_t MaxServers = 4; // of a worker: each holds a parse
constexpr uint64_t MinPrefixBytes = 300 << 10;
constexpr size_t ChildBytes = 3 << 20;
constexpr char MainName[] = "linemate prefix";

enum class Answer : uint64_t { Facts = 1, Declined = 2 };

bool answer(int Socket, Answer A) {
  return sendAll(Socket, reinterpret_cast<const char *>(&A), sizeof A);
}

bool answer(int Socket, const UnitResult &Result) {
  std::string Bytes = frame(Result);
  return answer(Socket, Answer::Facts) &&
         sendAll(Socket, Bytes.data(), Bytes.size());
}

/// What a server and its children share.
struct Service {
  const std::vector<Command> &Commands;
  const std::vector<Flags> &Normal;
  int Socket;
  uint64_t MemoryBytes;
  llvm::WritableMemoryBuffer *Buffer; ///< the main file, with room for all
  Task &T;
  bool IsChild = false;
  pid_t Server = getpid();
};

/// Waits where the main file goes on behind its first #include.
class PrefixEnd : public PPCallbacks {
public:
  PrefixEnd(Service &S, CompilerInstance &Compiler)
      : S(S), Compiler(Compiler) {}

  void FileChanged(SourceLocation Where, FileChangeReason Reason,
                   SrcMgr::CharacteristicKind, FileID Left) override {
    SourceManager &SM = Compiler.getSourceManager();
    if (S.IsChild || Reason != ExitFile ||
        SM.getFileID(Where) != SM.getMainFileID() ||
        !SM.getFileEntryRefForID(Left))
      return;
    if (!isWorthIt())
      return; // it ends without a child and declines
    prepareFiles();
    for (;;) {
      stopUnitClock();
      uint64_t Unit = 0;
      if (!receiveAll(S.Socket, reinterpret_cast<char *>(&Unit), sizeof Unit) ||
          Unit >= S.Commands.size())
        _exit(0);
      pid_t Child = fork();
      if (Child == 0) {
        dieWithParent(S.Server);
        startUnitClock();
        S.IsChild = true;
        populateHeap();
        become(size_t(Unit));
        return;
      }
      await(Child);
    }
  }

private:
  /// Whether the headers cost more than the page faults of a fork.
  bool isWorthIt() {
    uint64_t Bytes = 0;
    for (const std::string &Path : S.T.Files.filesRead())
      if (auto Status = S.T.Files.status(Path))
        Bytes += Status->getSize();
    return Bytes >= MinPrefixBytes;
  }

  /// Hashes and line tables, once here rather than in each child.
  void prepareFiles() {
    SourceManager &SM = Compiler.getSourceManager();
    for (const std::string &Path : S.T.Files.filesRead())
      S.T.Files.contentHash(Path);
    for (unsigned I = 1, N = SM.local_sloc_entry_size(); I < N; ++I) {
      const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
      if (!Entry.isFile() || !Entry.getFile().getContentCache().OrigEntry)
        continue;
      FileID Id =
          SM.getFileID(SourceLocation::getFromRawEncoding(Entry.getOffset()));
      if (Id == SM.getMainFileID() ||
          Entry.getFile().getFileCharacteristic() != SrcMgr::C_User)
        continue;
      S.T.Files.sha256(Entry.getFile().getContentCache().OrigEntry->getName());
      SM.getLineNumber(Id, 0);
    }
  }

  /// In one go what the parse is going to allocate: faults cost more than
  /// pages.
  static void populateHeap() {
    mallopt(M_TOP_PAD, int(ChildBytes));
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    if (char *Fresh = static_cast<char *>(malloc(ChildBytes))) {
      auto Page = uintptr_t(sysconf(_SC_PAGESIZE));
      uintptr_t First = (uintptr_t(Fresh) + Page) & ~(Page - 1);
      madvise(reinterpret_cast<void *>(First),
              (uintptr_t(Fresh) + ChildBytes - First) & ~(Page - 1),
              MADV_POPULATE_WRITE);
      free(Fresh);
    }
  }

  void await(pid_t Child) {
    UnitResult Failed;
    int Status = 0;
    if (Child < 0) {
      Failed.Failure = std::string("no process for it: ") + strerror(errno);
    } else {
      while (waitpid(Child, &Status, 0) < 0 && errno == EINTR)
        ;
      if (WIFEXITED(Status) && WEXITSTATUS(Status) == 0)
        return; // it answered
      Failed.Failure = reasonOfEnd(Status, S.MemoryBytes);
    }
    if (!answer(S.Socket, Failed))
      _exit(0);
  }

  [[noreturn]] void decline() {
    answer(S.Socket, Answer::Declined);
    _exit(0);
  }

  /// In the child: the main file becomes the unit's.
  void become(size_t Unit) {
    const Command &From = S.Commands[Unit];
    auto File = S.T.Files.openFileForRead(From.File);
    if (!File)
      decline();
    auto Content = (*File)->getBuffer(From.File, -1, true, false);
    if (!Content)
      decline();
    StringRef Text = (*Content)->getBuffer();
    std::optional<Beginning> Begin = beginningOf(Text);
    size_t Room = S.Buffer->getBufferSize();
    // It may have been edited since it was planned.
    if (!Begin || Text.size() > Room ||
        !StringRef(S.Buffer->getBufferStart(), Room)
             .contains(("#include " + Begin->Include + "\n").str()))
      decline();
    std::memcpy(S.Buffer->getBufferStart(), Text.data(), Text.size());
    std::fill(S.Buffer->getBufferStart() + Text.size(),
              S.Buffer->getBufferEnd(), '\0');
    S.T.From = &From;
    S.T.Normal = &S.Normal[Unit];
    S.T.Errors.follow(From);

    SourceManager &SM = Compiler.getSourceManager();
    FileID Main = SM.getMainFileID();
    // Lines may have been counted in the other text.
    SM.getSLocEntry(Main).getFile().getContentCache().SourceLineCache = {};
    // __FILE__ is the unit from here on.
    unsigned Line = unsigned(Text.take_front(Begin->End).count('\n'));
    SM.AddLineNote(SM.getComposedLoc(Main, unsigned(Begin->End) - 1), Line + 1,
                   int(SM.getLineTableFilenameID(From.File)), false, false,
                   SrcMgr::C_User);
    readFrom(Begin->End, Text.size());
  }

  /// The main file goes on at \p Offset and ends after \p Size bytes, where a
  /// lexer of the whole buffer would see blank lines to the end of its room.
  /// The preprocessor keeps its pointers to the lexer: one takes the other's
  /// place.
  void readFrom(size_t Offset, size_t Size) {
    Preprocessor &PP = Compiler.getPreprocessor();
    auto *Current = static_cast<Lexer *>(PP.getCurrentLexer());
    llvm::MemoryBufferRef Text(StringRef(S.Buffer->getBufferStart(), Size),
                               MainName);
    Current->~Lexer();
    new (Current) Lexer(Compiler.getSourceManager().getMainFileID(), Text, PP);
    Current->seek(unsigned(Offset), /*IsAtStartOfLine=*/true);
  }

  Service &S;
  CompilerInstance &Compiler;
};

class PrefixAction : public FactsAction {
public:
  PrefixAction(Task &T, Service &S) : FactsAction(T), S(S) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &Compiler,
                                                 StringRef File) override {
    Compiler.getPreprocessor().addPPCallbacks(
        std::make_unique<PrefixEnd>(S, Compiler));
    return FactsAction::CreateASTConsumer(Compiler, File);
  }

private:
  Service &S;
};

} // namespace

void PrefixServers::serve(const PrefixGroup &Group, size_t Unit, int Socket) {
  startUnitClock();
  const Command &From = Commands[Unit];
  const Flags &F = Normal[Unit];
  FileCache &Files = Reader.files();
  Files.beginUnit();
  Prepared P = Reader.invocations().prepare(From, F);
  auto Decline = [&]() {
    uint64_t Ignored = 0;
    receiveAll(Socket, reinterpret_cast<char *>(&Ignored), sizeof Ignored);
    answer(Socket, Answer::Declined);
    _exit(0);
  };
  if (!P.Invocation)
    Decline();
  std::string Text = "#include " + Group.Include + "\n";
  auto Buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      std::max(Group.MaxBytes, Text.size()) + 1, MainName);
  std::fill(Buffer->getBufferStart(), Buffer->getBufferEnd(), '\n');
  std::memcpy(Buffer->getBufferStart(), Text.data(), Text.size());

  FrontendOptions &Frontend = P.Invocation->getFrontendOpts();
  InputKind Kind = Frontend.Inputs[0].getKind();
  llvm::SmallString<256> Name(llvm::sys::path::parent_path(From.File));
  llvm::sys::path::append(Name, MainName);
  Frontend.Inputs.assign(1, FrontendInputFile(Name, Kind));
  Frontend.DisableFree = true; // the process ends

  ErrorList Errors(From);
  Task T{&From, &F, Reader.rows(), Files, Errors, {}};
  Service S{Commands, Normal, Socket, MemoryBytes, Buffer.get(), T};
  UnitCompiler Compiler;
  setUp(Compiler, std::move(P.Invocation), Files, Errors);
  FileEntryRef Main = Compiler.getFileManager().getVirtualFileRef(
      Name, off_t(Buffer->getBufferSize()), 0);
  Compiler.getSourceManager().overrideFileContents(Main, std::move(Buffer));
  PrefixAction Action(T, S);
  Compiler.ExecuteAction(Action);
  if (!S.IsChild)
    Decline(); // the #include entered no file
  UnitResult Result = resultOf(T, std::move(P.Dropped));
  Reader.finished(Result);
  answer(Socket, Result);
  _exit(0);
}

void PrefixServers::stop(Server &S) {
  if (S.Socket >= 0)
    close(S.Socket);
  S.Socket = -1;
  // It ends when it finds nobody at the other end; to kill is what confined
  // processes cannot.  One that does not end costs this unit its time.
  if (S.Pid > 0)
    while (waitpid(S.Pid, nullptr, 0) < 0 && errno == EINTR)
      ;
  S.Pid = -1;
}

PrefixServers::Server &PrefixServers::serverFor(const PrefixGroup &Group,
                                                size_t Unit) {
  auto Found = std::find_if(Servers.begin(), Servers.end(),
                            [&](Server &S) { return S.Group == &Group; });
  if (Found != Servers.end()) {
    Servers.splice(Servers.begin(), Servers, Found);
    return Servers.front();
  }
  size_t Running = 0;
  for (Server &S : Servers)
    if (S.Pid > 0 && ++Running >= MaxServers) {
      stop(S);
      S.Group = nullptr;
    }
  Servers.remove_if([](const Server &S) { return !S.Group; });
  Servers.push_front({&Group, -1, -1});
  Server &New = Servers.front();
  int Ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends))
    return New;
  pid_t Worker = getpid(), Child = fork();
  if (Child == 0) {
    dieWithParent(Worker);
    close(Ends[0]);
    for (Server &S : Servers)
      if (S.Socket >= 0)
        close(S.Socket);
    serve(Group, Unit, Ends[1]);
  }
  close(Ends[1]);
  if (Child < 0) {
    close(Ends[0]);
    return New;
  }
  New.Pid = Child;
  New.Socket = Ends[0];
  return New;
}

std::optional<UnitResult> PrefixServers::read(const PrefixGroup &Group,
                                              size_t Unit) {
  Server &S = serverFor(Group, Unit);
  if (S.Socket < 0)
    return std::nullopt;
  uint64_t Index = Unit, Size = 0;
  Answer Kind = Answer::Declined;
  UnitResult Out;
  std::string Bytes;
  bool IsGood =
      sendAll(S.Socket, reinterpret_cast<const char *>(&Index), sizeof Index) &&
      receiveAll(S.Socket, reinterpret_cast<char *>(&Kind), sizeof Kind) &&
      Kind == Answer::Facts &&
      receiveAll(S.Socket, reinterpret_cast<char *>(&Size), sizeof Size) &&
      Size <= MaxFrameBytes;
  if (IsGood) {
    Bytes.resize(Size);
    IsGood = receiveAll(S.Socket, Bytes.data(), Size) && unframe(Bytes, Out);
  }
  if (IsGood)
    return Out;
  stop(S); // kept without a process: the group is not tried again
  return std::nullopt;
}

} // namespace linemate
