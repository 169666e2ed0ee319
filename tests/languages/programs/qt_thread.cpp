// Two classes that override what a QThread runs.
#include "pair.h"

#include <QThread>

struct Producer : QThread {
  void run() override { produce(); }
};

struct Consumer : QThread {
  void run() override { consume(); }
};

int main() {
  Producer first;
  Consumer second;
  first.start();
  second.start();
  first.wait();
  second.wait();
}
