//===- Emit.h - Facts as JSON ---------------------------------------*- C++
//-*-===//
//
// Owns which fact goes under which name; sharing/model/facts.py reads it.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_EMIT_H
#define LINEMATE_ANALYZER_EMIT_H

#include "Facts.h"
#include "Json.h"

namespace linemate {

void write(JsonStream &Out, const FunctionFacts &F);
void write(JsonStream &Out, const RecordFacts &R);
void write(JsonStream &Out, const VariableFacts &V);
void write(JsonStream &Out, const UnitOptions &O);

} // namespace linemate

#endif
