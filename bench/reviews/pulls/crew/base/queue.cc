#include "crew.h"

namespace crew {

void Queue::push(Job J) {
  {
    std::lock_guard<std::mutex> Hold(Guard);
    Jobs.push_back(std::move(J));
  }
  Ready.notify_one();
}

bool Queue::pop(Job &J) {
  std::unique_lock<std::mutex> Hold(Guard);
  Ready.wait(Hold, [this] { return Closed || !Jobs.empty(); });
  if (Jobs.empty())
    return false;
  J = std::move(Jobs.front());
  Jobs.pop_front();
  return true;
}

void Queue::close() {
  {
    std::lock_guard<std::mutex> Hold(Guard);
    Closed = true;
  }
  Ready.notify_all();
}

} // namespace crew
