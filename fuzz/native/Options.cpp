//===- Options.cpp - What the sanitizer is told in every target -----------===//
//
// Owns nothing else.
//
//===----------------------------------------------------------------------===//

/// LLVM's code as installed does not undo the poisoning of memory that its
/// headers do here, where they are compiled with the sanitizer.  What LLVM and
/// Clang keep until the end is no leak.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_leaks=0";
}
