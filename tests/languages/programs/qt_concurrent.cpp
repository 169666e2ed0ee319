// A function and a lambda, run by QtConcurrent.
#include "pair.h"

#include <QtConcurrent/QtConcurrentRun>

int main() {
  QFuture<void> first = QtConcurrent::run(produce);
  QFuture<void> second = QtConcurrent::run([] { consume(); });
  first.waitForFinished();
  second.waitForFinished();
}
