//===- Records.h - Layout of records -------------------------------*- C++
//-*-===//
//
// Owns RecordFacts of a complete record: what ASTRecordLayout says, with the
// source it comes from.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_RECORDS_H
#define LINEMATE_ANALYZER_RECORDS_H

#include "Facts.h"
#include "Types.h"
#include "UnitBuilder.h"

namespace linemate {

/// \p R comes from UnitBuilder::records().
RecordFacts recordFacts(UnitBuilder &Unit, TypeTrees &Types,
                        const clang::RecordDecl &R);

} // namespace linemate

#endif
