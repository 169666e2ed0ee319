#include "store.h"
#include <cstdlib>
#include <stdexcept>

namespace store {

int limit_per_client = 1000;
static int settings_read;

int setting(const std::string &name, int otherwise) {
  ++settings_read;
  const char *text = std::getenv(name.c_str());
  if (!text)
    return otherwise;
  int value = std::atoi(text);
  if (value <= 0)
    throw std::invalid_argument(name + " has to be positive");
  return value;
}

} // namespace store
