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

void write(JsonText &Out, const FunctionFacts &F);
void write(JsonText &Out, const RecordFacts &R);
void write(JsonText &Out, const VariableFacts &V);
void write(JsonText &Out, const UnitOptions &O);

} // namespace linemate

#endif
