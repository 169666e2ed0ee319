//===- Program.cpp - Small C and C++ programs out of bytes ----------------===//
//
// Owns the grammar and its bounds on length and depth.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

namespace linemate::fuzz {

namespace {

constexpr unsigned MaxDepth = 5;
constexpr size_t MaxTextBytes = 16 << 10;

constexpr const char *LibraryTypes = R"(
typedef struct { int opaque[10]; } pthread_mutex_t;
typedef struct { unsigned v; } pthread_spinlock_t;
typedef unsigned long pthread_t;
)";

constexpr const char *Library = R"(
int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);
int pthread_mutex_trylock(pthread_mutex_t *);
int pthread_spin_lock(pthread_spinlock_t *); int pthread_spin_unlock(pthread_spinlock_t *);
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
int pthread_join(pthread_t, void **);
void *malloc(unsigned long); void *calloc(unsigned long, unsigned long);
void *aligned_alloc(unsigned long, unsigned long); void free(void *);
void *memcpy(void *, const void *, unsigned long); void *memset(void *, int, unsigned long);
)";

class Maker {
public:
  Maker(const uint8_t *Bytes, size_t Size, bool IsCxx)
      : Bytes(Bytes), Left(Size), IsCxx(IsCxx) {}

  std::string make() {
    Out = LibraryTypes;
    Out += IsCxx ? std::string("extern \"C\" {") + Library + "}\n" : Library;
    record();
    variable();
    variable();
    do
      declaration();
    while (Left && Out.size() < MaxTextBytes);
    return Out;
  }

private:
  const uint8_t *Bytes;
  size_t Left;
  bool IsCxx;
  std::string Out;
  unsigned Records = 0, Variables = 0, Functions = 0, Locals = 0, Depth = 0;

  unsigned pick(unsigned Count) {
    if (!Left)
      return 0;
    --Left;
    return *Bytes++ % Count;
  }
  void add(const std::string &Text) { Out += Text; }
  std::string numbered(const char *Prefix, unsigned Count) {
    return Prefix + std::to_string(Count ? pick(Count) : 0);
  }

  void declaration() {
    switch (pick(8)) {
    case 0:
    case 1:
      return variable();
    case 2:
      return record();
    case 3:
      add("typedef " + scalar() + " T" + std::to_string(Out.size()) + ";\n");
      return;
    case 4:
      if (IsCxx)
        return cxxOnly();
      [[fallthrough]];
    default:
      return function();
    }
  }

  std::string scalar() {
    static constexpr const char *Names[] = {
        "int",           "char",     "unsigned long", "short",   "long long",
        "double",        "_Bool",    "unsigned char", "float",   "void *",
        "unsigned long", "unsigned", "long double",   "__int128"};
    const char *Name = Names[pick(14)];
    return IsCxx && std::string(Name) == "_Bool" ? "bool" : Name;
  }

  std::string type() {
    switch (pick(6)) {
    case 0:
      if (Records)
        return (IsCxx ? "" : "struct ") + numbered("R", Records);
      break;
    case 1:
      return "pthread_mutex_t";
    case 2:
      return "volatile " + scalar();
    case 3:
      if (!IsCxx)
        return "_Atomic(" + scalar() + ")";
      break;
    case 4:
      return "pthread_spinlock_t";
    default:
      break;
    }
    return scalar();
  }

  std::string alignment() {
    static constexpr const char *Words[] = {
        "",
        "",
        "",
        "__attribute__((aligned(64))) ",
        "__attribute__((aligned(128))) ",
        "__attribute__((packed)) ",
        "__attribute__((section(\".data..percpu\"))) ",
        "__attribute__((aligned)) "};
    return Words[pick(8)];
  }

  std::string dimensions() {
    static constexpr const char *Words[] = {
        "", "", "", "[1]", "[4]", "[3][5]", "[64]", "[1 << 10]"};
    return Words[pick(8)];
  }

  void record() {
    unsigned Own = Records;
    std::string Head = pick(6) == 0 ? "union" : "struct";
    add((IsCxx ? Head : std::string("struct")) + " " + alignment() + "R" +
        std::to_string(Own));
    if (IsCxx && Own && pick(4) == 0 && Head == "struct")
      add(" : R" + std::to_string(pick(Own)));
    add(" {\n");
    unsigned Members = 1 + pick(8);
    for (unsigned I = 0; I < Members; ++I) {
      std::string Name = "m" + std::to_string(I);
      switch (pick(8)) {
      case 0:
        add("  int " + Name + " : " + std::to_string(1 + pick(31)) + ";\n");
        break;
      case 1:
        add("  struct R" + std::to_string(Own) + " *" + Name + ";\n");
        break;
      case 2:
        add("  struct { " + scalar() + " a; " + scalar() + " b; } " + Name +
            dimensions() + ";\n");
        break;
      default:
        add("  " + type() + " " + Name + dimensions() + ";\n");
      }
    }
    add("};\n");
    ++Records;
  }

  void variable() {
    static constexpr const char *Storage[] = {"", "static ", "extern ",
                                              "static __thread ", "const "};
    unsigned Which = pick(5);
    std::string Name = "v" + std::to_string(Variables++);
    add(Storage[Which] + type() + " " + alignment() + Name + dimensions());
    add(Which == 2 || pick(3) ? ";\n" : " = {0};\n");
  }

  void cxxOnly() {
    std::string N = std::to_string(Out.size());
    switch (pick(4)) {
    case 0:
      add("namespace n" + N + " { static " + scalar() + " inner; }\n");
      return;
    case 1:
      add("template <typename T> struct P" + N +
          " { T t; static int made; "
          "void put(T x) { t = x; made++; } };\ntemplate <typename T> int P" +
          N + "<T>::made;\nP" + N + "<" + scalar() + "> p" + N + ";\nvoid use" +
          N + "() { p" + N + ".put(0); }\n");
      return;
    case 2:
      add("struct V" + N + " { virtual ~V" + N +
          "() {} virtual void f() { "
          "n++; } int n; };\nstatic V" +
          N + " w" + N + ";\nvoid call" + N + "(V" + N +
          " *p) { p->f(); [&] { p->n = 1; }(); }\n");
      return;
    default:
      add("inline int s" + N + "() { static int once = 3; return ++once; }\n");
    }
  }

  void function() {
    unsigned Own = Functions++;
    Locals = 1;
    static constexpr const char *Heads[] = {"void ", "static void ",
                                            "__attribute__((cold)) void "};
    add(Heads[pick(3)] + std::string("f") + std::to_string(Own) +
        "(void *arg, unsigned long n) {\n  unsigned long l0 = n;\n");
    unsigned Statements = 1 + pick(6);
    for (unsigned I = 0; I < Statements; ++I)
      statement();
    add("}\n");
  }

  std::string place() {
    if (!Variables)
      return "l0";
    std::string V = numbered("v", Variables);
    switch (pick(9)) {
    case 0:
      return V + "[n]";
    case 1:
      return V + ".m" + std::to_string(pick(4));
    case 2:
      return V + ".m0[n].a";
    case 3:
      return "*(int *)&" + V;
    case 4:
      return Records ? "((struct " + numbered("R", Records) + " *)arg)->m" +
                           std::to_string(pick(3))
                     : "*(int *)arg";
    case 5:
      return "((char *)&" + V + ")[n & 7]";
    case 6:
      return V + ".m1->m2";
    default:
      return V;
    }
  }

  std::string value() {
    if (++Depth > MaxDepth) {
      --Depth;
      return "1";
    }
    std::string Text;
    switch (pick(9)) {
    case 0:
      Text = place();
      break;
    case 1:
      Text = "(" + value() + " + " + value() + ")";
      break;
    case 2:
      Text = "__atomic_load_n((int *)&" + place() + ", 5)";
      break;
    case 3:
      Text = "sizeof(" + place() + ")";
      break;
    case 4:
      Text = "(n ? " + value() + " : " + value() + ")";
      break;
    case 5:
      Text = "(unsigned long)malloc(" + value() + ")";
      break;
    case 6:
      Text = "(" + value() + " % " + value() + ")";
      break;
    case 7:
      Text = "l0";
      break;
    default:
      Text = std::to_string(pick(255));
    }
    --Depth;
    return Text;
  }

  void statement() {
    if (++Depth > MaxDepth || Out.size() > MaxTextBytes) {
      --Depth;
      add("  ;\n");
      return;
    }
    switch (pick(18)) {
    case 0:
      add("  " + place() + " = " + value() + ";\n");
      break;
    case 1:
      add("  " + place() + "++;\n");
      break;
    case 2:
      add("  if (" + value() + ")\n");
      statement();
      if (pick(2)) {
        add("  else\n");
        statement();
      }
      break;
    case 3:
      add("  for (unsigned long i = 0; i < " + value() + "; i++) {\n");
      statement();
      statement();
      add("  }\n");
      break;
    case 4: {
      std::string Lock = place();
      add("  pthread_mutex_lock((pthread_mutex_t *)&" + Lock + ");\n");
      statement();
      add("  pthread_mutex_unlock((pthread_mutex_t *)&" + Lock + ");\n");
      break;
    }
    case 5:
      add("  pthread_spin_lock((pthread_spinlock_t *)&" + place() + ");\n");
      break;
    case 6:
      add("  __atomic_fetch_add((int *)&" + place() + ", 1, 5);\n");
      break;
    case 7:
      add("  __sync_bool_compare_and_swap((long *)&" + place() + ", 0, 1);\n");
      break;
    case 8:
      add("  { pthread_t t; pthread_create(&t, 0, (void *(*)(void *))" +
          numbered("f", Functions) + ", &" + place() + "); }\n");
      break;
    case 9:
      add("  " + numbered("f", Functions) + "(&" + place() + ", " + value() +
          ");\n");
      break;
    case 10:
      add("  memcpy(&" + place() + ", &" + place() + ", " + value() + ");\n");
      break;
    case 11:
      add("  switch (" + value() + ") { case 1:\n");
      statement();
      add("  break; case 2: default:\n");
      statement();
      add("  }\n");
      break;
    case 12:
      add("  while (" + value() + ")\n");
      statement();
      break;
    case 13:
      add("  do {\n");
      statement();
      add("  } while (" + value() + ");\n");
      break;
    case 14:
      add("  if (pthread_mutex_trylock((pthread_mutex_t *)&" + place() +
          ") == 0) {\n");
      statement();
      add("  }\n");
      break;
    case 15:
      add("  return;\n");
      break;
    case 16:
      add("  memset(&" + place() + ", 0, sizeof(" + place() + "));\n");
      break;
    default:
      add("  arg = &" + place() + ";\n");
    }
    --Depth;
  }
};

} // namespace

std::string makeProgram(const uint8_t *Bytes, size_t Size, bool IsCxx) {
  return Maker(Bytes, Size, IsCxx).make();
}

} // namespace linemate::fuzz
