#pragma once

#include "handoff.h"
#include "pool.h"

namespace lathe {

void cut(long Pieces);
void polish();
long finished();

} // namespace lathe
