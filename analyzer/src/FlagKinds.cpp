//===- FlagKinds.cpp - Which flags the parser is given --------------------===//
//
// Owns the tables; see FlagKinds.h.
//
//===----------------------------------------------------------------------===//

#include "FlagKinds.h"

#include "clang/Driver/Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Option.h"

using namespace llvm;
using namespace clang::driver;

namespace linemate {

namespace {

bool isIn(const opt::Option &O, ArrayRef<options::ID> Groups) {
  return any_of(Groups, [&](options::ID Group) { return O.matches(Group); });
}

bool startsWith(StringRef Name, ArrayRef<StringRef> Prefixes) {
  return any_of(Prefixes, [&](StringRef P) { return Name.starts_with(P); });
}

/// Outputs, diagnostics and the linker: no word on what the source means.
bool isSilent(const opt::Option &O, StringRef Name) {
  using namespace options;
  if (isIn(O, {OPT_M_Group, OPT_d_Group, OPT_Action_Group, OPT_Link_Group,
               OPT_StaticAnalyzer_Group, OPT_R_Group, OPT_reserved_lib_Group}))
    return true;
  if (startsWith(
          Name,
          {"-fdiagnostics", "-fno-diagnostics", "-fdebug", "-fno-debug",
           "-fprofile", "-fno-profile", "-fcs-profile", "-fauto-profile",
           "-fno-auto-profile", "-fmemory-profile", "-fcoverage",
           "-ftest-coverage", "-fxray", "-fsanitize-", "-fno-sanitize-",
           "-fcrash", "-fsave-", "-ftime-", "-fmessage-length",
           "-fmacro-backtrace", "-ftemplate-backtrace", "-fconstexpr-backtrace",
           "-flto", "-fno-lto", "-fthinlto", "-fthin-link", "-fproc-stat",
           "-fbuild-session", "-fcolor", "-ferror-limit", "-fspell-checking-",
           "-fopt", "-foptimization-record", "-fshow-", "-fno-show-",
           "-fstack-usage", "-fcaret", "-fembed-bitcode", "-frecord-command",
           "-fno-module", "-fno-pch", "-fno-implicit-module", "-fno-integrated",
           "-fintegrated", "-frandom-seed", "-fdump", "-fmerge-all",
           "-fdepfile", "-fuse-ld",
           // without a group
           "-print-", "--print-", "-dump", "-save-", "--save-", "--serialize-",
           "-serialize-", "-shared-", "-static-", "-emit-", "--emit-", "-Qn",
           "-Qy", "-Qunused", "-rtlib", "--rtlib", "-unwindlib", "--help",
           "-help", "--version", "-Wa,", "-fno-rtlib", "-frtlib"}))
    return true;
  switch (O.getID()) {
  case OPT_o:
  case OPT_pipe:
  case OPT_v:
  case OPT__HASH_HASH_HASH:
  case OPT_C:
  case OPT_CC:
  case OPT_P:
  case OPT_H:
  case OPT_Q:
  case OPT_V:
  case OPT_time:
  case OPT_combine:
  case OPT_nodefaultlibs:
  case OPT_nolibc:
  case OPT_nostdlibxx:
  case OPT_pass_exit_codes:
  case OPT_canonical_prefixes:
  case OPT_no_canonical_prefixes:
  case OPT_no_integrated_cpp:
  case OPT_Xassembler:
  case OPT_MJ:
  case OPT_gen_cdb_fragment_path:
  case OPT_ftime_trace:
  case OPT_x: // the language of the file is asked for again at the end
    return true;
  default:
    return false;
  }
}

/// Options that read what was compiled before, choose another language, run
/// something, or hand words to a part of the compiler.
bool isBarred(const opt::Option &O, StringRef Name) {
  using namespace options;
  if (isIn(O, {OPT_internal_Group, OPT_internal_driver_Group,
               OPT_internal_debug_Group, OPT_cuda_Group, OPT_hip_Group,
               OPT_offload_Group, OPT_opencl_Group, OPT_hlsl_Group,
               OPT_sycl_Group, OPT_dxc_Group, OPT_gfortran_Group,
               OPT_m_wasm_Features_Driver_Group, OPT_cl_Group}))
    return true;
  // -fmodules, -fmodule-map-file, -fprebuilt-module-path, -include-pch, ...
  if (Name.contains("module") || Name.contains("pch"))
    return true;
  return startsWith(Name,
                    {"-fplugin", "-fpass-plugin", "-fopenmp-targets",
                     "-foffload", "-fembed-offload", "-fapinotes", "-iapinotes",
                     "-ivfsoverlay", "-vfsoverlay", "-fclangir", "-fgpu",
                     "--libomptarget", "-fthinlto-index", "-frewrite",
                     "-fdirectives-only", "-X", "-mllvm", "-mmlir", "-mzos"});
}

/// -f flags with a value that changes what the source means.
bool isLanguageValue(StringRef Name) {
  return startsWith(Name, {"-fabi-version=",
                           "-falign-",
                           "-faligned-",
                           "-fbracket-depth",
                           "-fcf-protection=",
                           "-fclang-abi-compat=",
                           "-fcommon",
                           "-fconstexpr-depth",
                           "-fconstexpr-steps",
                           "-fdenormal-",
                           "-fenforce-",
                           "-fexcess-precision=",
                           "-fexec-charset=",
                           "-ffile-prefix-map=",
                           "-ffixed-",
                           "-ffloat16-excess",
                           "-ffp-",
                           "-finput-charset=",
                           "-flax-vector-conversions",
                           "-fmacro-prefix-map=",
                           "-fmax-type-align=",
                           "-fmax-tokens",
                           "-fms-compatibility-version=",
                           "-fmsc-version=",
                           "-fms-memptr-rep",
                           "-fms-omit",
                           "-fno-builtin-",
                           "-fno-sanitize=",
                           "-fnew-alignment=",
                           "-fobjc-runtime=",
                           "-fopenmp=",
                           "-fopenmp-version=",
                           "-foperator-arrow-depth",
                           "-foverride-record-layout",
                           "-fpack-struct=",
                           "-fpatchable-function-entry=",
                           "-fsanitize=",
                           "-fstack-protector",
                           "-fstrict-flex-arrays=",
                           "-ftabstop",
                           "-ftemplate-depth",
                           "-ftls-model=",
                           "-ftrivial-auto-var-init",
                           "-fveclib=",
                           "-fvisibility",
                           "-fwchar-type=",
                           "-fzero-call-used-regs=",
                           "-fcomplex-arithmetic=",
                           "-frelaxed-",
                           "-fsized-",
                           "-fexperimental-",
                           "-fptrauth",
                           "-fchar8"});
}

bool isPlainPath(StringRef Name) {
  return startsWith(Name, {"-ffile-prefix-map=", "-fmacro-prefix-map="});
}

/// No file is named, and nothing that is looked for.
bool hasPlainValues(const opt::Arg &A) {
  return none_of(A.getValues(),
                 [](StringRef Value) { return Value.contains('/'); });
}

/// Options without a group that a parse depends on.
bool isAllowedAlone(const opt::Option &O) {
  using namespace options;
  switch (O.getID()) {
  case OPT_target:
  case OPT__sysroot_EQ:
  case OPT_isysroot:
  case OPT_gcc_toolchain:
  case OPT_gcc_install_dir_EQ:
  case OPT_gcc_triple_EQ:
  case OPT_resource_dir:
  case OPT_stdlib_EQ:
  case OPT_pthread:
  case OPT_no_pthread:
  case OPT_nopie:
  case OPT_pg:
  case OPT_p:
  case OPT_w:
  case OPT_F:
  case OPT_working_directory:
  case OPT_traditional:
  case OPT_nostdlib:
  case OPT_U:
  case OPT_D:
  case OPT_ansi:
  case OPT_std_EQ:
  case OPT__param:
    return true;
  default:
    return false;
  }
}

} // namespace

Fate fateOf(const opt::Arg &A) {
  using namespace options;
  const opt::Option &O = A.getOption();
  StringRef Name = O.getPrefixedName();
  if (O.getKind() == opt::Option::InputClass)
    return Fate::Silent;
  // Clang takes some flags of GCC and does nothing with them.
  if (O.getKind() == opt::Option::UnknownClass ||
      isIn(O, {OPT_clang_ignored_f_Group,
               OPT_clang_ignored_gcc_optimization_f_Group,
               OPT_clang_ignored_m_Group}))
    return Fate::Named;
  if (isSilent(O, Name))
    return Fate::Silent;
  if (isBarred(O, Name))
    return Fate::Named;
  if (isAllowedAlone(O))
    return Fate::Passed;
  if (isIn(O, {OPT_I_Group, OPT_IncludePath_Group, OPT_i_Group,
               OPT_clang_i_Group, OPT_Preprocessor_Group, OPT_O_Group,
               OPT_W_Group, OPT_g_Group, OPT_g_flags_Group, OPT_gN_Group,
               OPT_DebugInfo_Group, OPT_pedantic_Group}))
    return Fate::Passed;
  bool IsFlag = O.getKind() == opt::Option::FlagClass;
  // Some of these have no group.
  if (O.matches(OPT_m_Group) || (IsFlag && Name.starts_with("-m")))
    return IsFlag || hasPlainValues(A) ? Fate::Passed : Fate::Named;
  if (IsFlag && Name.starts_with("-f"))
    return Fate::Passed;
  if (isLanguageValue(Name) && (hasPlainValues(A) || isPlainPath(Name)))
    return Fate::Passed;
  return Fate::Named;
}

bool isProcessor(const Triple &Target) {
  switch (Target.getArch()) {
  case Triple::x86:
  case Triple::x86_64:
  case Triple::arm:
  case Triple::armeb:
  case Triple::thumb:
  case Triple::thumbeb:
  case Triple::aarch64:
  case Triple::aarch64_be:
  case Triple::aarch64_32:
  case Triple::riscv32:
  case Triple::riscv64:
  case Triple::ppc:
  case Triple::ppcle:
  case Triple::ppc64:
  case Triple::ppc64le:
  case Triple::mips:
  case Triple::mipsel:
  case Triple::mips64:
  case Triple::mips64el:
  case Triple::systemz:
  case Triple::sparc:
  case Triple::sparcel:
  case Triple::sparcv9:
  case Triple::loongarch32:
  case Triple::loongarch64:
  case Triple::m68k:
    break;
  default:
    return false;
  }
  // The system alone can choose the tools for an accelerator.
  switch (Target.getOS()) {
  case Triple::UnknownOS:
  case Triple::Linux:
  case Triple::FreeBSD:
  case Triple::NetBSD:
  case Triple::OpenBSD:
  case Triple::DragonFly:
  case Triple::KFreeBSD:
  case Triple::Hurd:
  case Triple::Solaris:
  case Triple::AIX:
  case Triple::Haiku:
  case Triple::Fuchsia:
  case Triple::RTEMS:
  case Triple::Darwin:
  case Triple::MacOSX:
  case Triple::IOS:
  case Triple::Win32:
    return true;
  default:
    return false;
  }
}

std::string parsedLanguage(StringRef Asked) {
  return StringSwitch<std::string>(Asked)
      .Cases("c", "c-header", "cpp-output", "c")
      .Cases("c++", "c++-header", "c++-cpp-output", "c++-user-header",
             "c++-system-header", "c++")
      .Case("c++-module", "c++-module")
      .Default("");
}

} // namespace linemate
