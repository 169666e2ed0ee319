// A second user of what everything.h declares, with a static whose name the first has too.
#include "everything.h"

static long hidden;

long other(app::Node &node) {
  app::total += ++hidden;
  node.weight = c_flag;
  app::heads[1] = &node;
  return app::owner.get() + app::calls() + app::shared_inline++ + static_cast<long>(sizeof app::names[0]);
}
