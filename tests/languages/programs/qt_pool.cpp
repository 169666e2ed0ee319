// A task and a function, run by a pool.
#include "pair.h"

#include <QRunnable>
#include <QThreadPool>

struct Task : QRunnable {
  void run() override { produce(); }
};

int main() {
  QThreadPool pool;
  pool.start(new Task);
  pool.start([] { consume(); });
  pool.waitForDone();
}
