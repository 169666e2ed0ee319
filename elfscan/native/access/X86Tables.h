//===- X86Tables.h - x86-64 instructions by number --------------*- C++ -*-===//
//
// Owns what the data flow must know of an x86 instruction beyond its operands.
// Written from the Intel SDM, volume 2.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_X86TABLES_H
#define LINEMATE_ACCESS_X86TABLES_H

#include <array>
#include <capstone/capstone.h>
#include <initializer_list>

namespace linemate {

/// What an instruction is to the data flow.  Other: only its operands count.
enum class X86Class : uint8_t {
  Other,
  Mov,
  Extend,
  Lea,
  Add,
  Sub,
  Increment,
  Decrement,
  ShiftLeft,
  ShiftRight,
  Multiply,
  Xor,
  And,
  Compare,
  SignExtendAcc,
  Push,
  Pop,
  Leave,
  Exchange,
  ExchangeAdd,
  Select,
  Call,
  Jump,
  Branch,
  Return,
  Stop,
  NoAccess,
  String,
  SystemCall,
};

constexpr auto makeX86Classes() {
  std::array<X86Class, X86_INS_ENDING> Map{};
  auto Set = [&Map](X86Class C, std::initializer_list<unsigned> Ids) {
    for (unsigned Id : Ids)
      Map[Id] = C;
  };
  Set(X86Class::Mov, {X86_INS_MOV, X86_INS_MOVABS});
  Set(X86Class::Extend, {X86_INS_MOVZX, X86_INS_MOVSX, X86_INS_MOVSXD});
  Set(X86Class::Lea, {X86_INS_LEA});
  Set(X86Class::Add, {X86_INS_ADD});
  Set(X86Class::Sub, {X86_INS_SUB});
  Set(X86Class::Increment, {X86_INS_INC});
  Set(X86Class::Decrement, {X86_INS_DEC});
  Set(X86Class::ShiftLeft, {X86_INS_SHL, X86_INS_SAL});
  Set(X86Class::ShiftRight, {X86_INS_SHR, X86_INS_SAR});
  Set(X86Class::Multiply, {X86_INS_IMUL});
  Set(X86Class::Xor, {X86_INS_XOR});
  Set(X86Class::And, {X86_INS_AND});
  Set(X86Class::Compare, {X86_INS_CMP});
  Set(X86Class::SignExtendAcc, {X86_INS_CDQE});
  Set(X86Class::Push, {X86_INS_PUSH, X86_INS_PUSHFQ});
  Set(X86Class::Pop, {X86_INS_POP, X86_INS_POPFQ});
  Set(X86Class::Leave, {X86_INS_LEAVE});
  Set(X86Class::Exchange, {X86_INS_XCHG});
  Set(X86Class::ExchangeAdd, {X86_INS_XADD, X86_INS_CMPXCHG});
  Set(X86Class::Select,
      {X86_INS_CMOVA, X86_INS_CMOVAE, X86_INS_CMOVB, X86_INS_CMOVBE,
       X86_INS_CMOVE, X86_INS_CMOVG, X86_INS_CMOVGE, X86_INS_CMOVL,
       X86_INS_CMOVLE, X86_INS_CMOVNE, X86_INS_CMOVNO, X86_INS_CMOVNP,
       X86_INS_CMOVNS, X86_INS_CMOVO, X86_INS_CMOVP, X86_INS_CMOVS});
  Set(X86Class::Call, {X86_INS_CALL});
  Set(X86Class::Jump, {X86_INS_JMP});
  Set(X86Class::Branch,
      {X86_INS_JAE,   X86_INS_JA,     X86_INS_JBE,   X86_INS_JB,  X86_INS_JCXZ,
       X86_INS_JECXZ, X86_INS_JE,     X86_INS_JGE,   X86_INS_JG,  X86_INS_JLE,
       X86_INS_JL,    X86_INS_JNE,    X86_INS_JNO,   X86_INS_JNP, X86_INS_JNS,
       X86_INS_JO,    X86_INS_JP,     X86_INS_JRCXZ, X86_INS_JS,  X86_INS_LOOP,
       X86_INS_LOOPE, X86_INS_LOOPNE, X86_INS_XBEGIN});
  Set(X86Class::Return,
      {X86_INS_RET, X86_INS_RETF, X86_INS_RETFQ, X86_INS_IRET, X86_INS_IRETD,
       X86_INS_IRETQ, X86_INS_SYSRET, X86_INS_SYSEXIT});
  Set(X86Class::SystemCall, {X86_INS_SYSCALL});
  Set(X86Class::Stop, {X86_INS_INT3});
  // Hints, cache control and address-translation: they move no data that the
  // program sees.
  Set(X86Class::NoAccess,
      {X86_INS_NOP, X86_INS_FNOP, X86_INS_PREFETCH, X86_INS_PREFETCHNTA,
       X86_INS_PREFETCHT0, X86_INS_PREFETCHT1, X86_INS_PREFETCHT2,
       X86_INS_PREFETCHW, X86_INS_CLFLUSH, X86_INS_CLFLUSHOPT, X86_INS_CLWB,
       X86_INS_INVLPG, X86_INS_ENDBR64, X86_INS_ENDBR32});
  Set(X86Class::String,
      {X86_INS_MOVSB, X86_INS_MOVSW, X86_INS_MOVSQ, X86_INS_STOSB,
       X86_INS_STOSW, X86_INS_STOSD, X86_INS_STOSQ, X86_INS_LODSB,
       X86_INS_LODSW, X86_INS_LODSD, X86_INS_LODSQ, X86_INS_SCASB,
       X86_INS_SCASW, X86_INS_SCASD, X86_INS_SCASQ, X86_INS_CMPSB,
       X86_INS_CMPSW, X86_INS_CMPSQ, X86_INS_CMPSD, X86_INS_INSB,
       X86_INS_INSW,  X86_INS_INSD,  X86_INS_OUTSB, X86_INS_OUTSW,
       X86_INS_OUTSD});
  return Map;
}

inline constexpr auto X86Classes = makeX86Classes();

/// What happens to the first operand.  ByOperands: written when there are two
/// or more, read when it is alone.
enum class X86First : uint8_t { ByOperands, Read, Written, Changed };

constexpr auto makeX86Firsts() {
  std::array<X86First, X86_INS_ENDING> Map{};
  auto Set = [&Map](X86First F, std::initializer_list<unsigned> Ids) {
    for (unsigned Id : Ids)
      Map[Id] = F;
  };
  Set(X86First::Read,
      {X86_INS_CMP,   X86_INS_TEST,  X86_INS_BT,    X86_INS_PUSH,
       X86_INS_CALL,  X86_INS_JMP,   X86_INS_MUL,   X86_INS_IMUL,
       X86_INS_DIV,   X86_INS_IDIV,  X86_INS_CMPSB, X86_INS_CMPSW,
       X86_INS_CMPSQ, X86_INS_CMPSD, X86_INS_SCASB, X86_INS_SCASW,
       X86_INS_SCASD, X86_INS_SCASQ, X86_INS_OUTSB, X86_INS_OUTSW,
       X86_INS_OUTSD, X86_INS_LODSB, X86_INS_LODSW, X86_INS_LODSD,
       X86_INS_LODSQ, X86_INS_OUT});
  Set(X86First::Written,
      {X86_INS_SETAE,    X86_INS_SETA,     X86_INS_SETBE,      X86_INS_SETB,
       X86_INS_SETE,     X86_INS_SETGE,    X86_INS_SETG,       X86_INS_SETLE,
       X86_INS_SETL,     X86_INS_SETNE,    X86_INS_SETNO,      X86_INS_SETNP,
       X86_INS_SETNS,    X86_INS_SETO,     X86_INS_SETP,       X86_INS_SETS,
       X86_INS_POP,      X86_INS_FST,      X86_INS_FSTP,       X86_INS_FIST,
       X86_INS_FISTP,    X86_INS_FISTTP,   X86_INS_FBSTP,      X86_INS_FNSTCW,
       X86_INS_FNSTENV,  X86_INS_FNSTSW,   X86_INS_FNSAVE,     X86_INS_FXSAVE,
       X86_INS_FXSAVE64, X86_INS_XSAVE,    X86_INS_XSAVE64,    X86_INS_XSAVEC,
       X86_INS_XSAVEC64, X86_INS_XSAVEOPT, X86_INS_XSAVEOPT64, X86_INS_XSAVES,
       X86_INS_XSAVES64, X86_INS_STMXCSR,  X86_INS_VSTMXCSR,   X86_INS_SGDT,
       X86_INS_SIDT,     X86_INS_SLDT,     X86_INS_STR,        X86_INS_SMSW,
       X86_INS_VMPTRST});
  Set(X86First::Changed,
      {X86_INS_ADD,       X86_INS_ADC,  X86_INS_AND,     X86_INS_SUB,
       X86_INS_SBB,       X86_INS_OR,   X86_INS_XOR,     X86_INS_INC,
       X86_INS_DEC,       X86_INS_NEG,  X86_INS_NOT,     X86_INS_SHL,
       X86_INS_SAL,       X86_INS_SHR,  X86_INS_SAR,     X86_INS_ROL,
       X86_INS_ROR,       X86_INS_RCL,  X86_INS_RCR,     X86_INS_BTS,
       X86_INS_BTR,       X86_INS_BTC,  X86_INS_SHLD,    X86_INS_SHRD,
       X86_INS_XADD,      X86_INS_XCHG, X86_INS_CMPXCHG, X86_INS_CMPXCHG8B,
       X86_INS_CMPXCHG16B});
  return Map;
}

inline constexpr auto X86Firsts = makeX86Firsts();

} // namespace linemate

#endif // LINEMATE_ACCESS_X86TABLES_H
