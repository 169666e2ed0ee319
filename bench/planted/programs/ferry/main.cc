#include <charconv>
#include <cstdio>
#include <string_view>

#include "broker.h"

namespace {

bool Number(std::string_view text, uint32_t& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool Parse(int argc, char** argv, ferry::Options& o) {
  for (int i = 1; i < argc; ++i) {
    std::string_view arg = argv[i];
    if (arg == "--no-verify") {
      o.verify = false;
    } else if (arg.starts_with("--messages=")) {
      if (!Number(arg.substr(11), o.messages)) return false;
    } else if (arg.starts_with("--retention=")) {
      if (!Number(arg.substr(12), o.retention)) return false;
    } else {
      return false;
    }
  }
  return o.messages > 0 && o.retention >= 16 && o.retention <= 200;
}

}  // namespace

int main(int argc, char** argv) {
  ferry::Options options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr, "usage: ferry [--messages=n] [--retention=n] [--no-verify]\n");
    return 2;
  }
  auto broker = std::make_unique<ferry::Broker>(options);
  broker->Start();
  broker->Join();
  broker->Report();
  return broker->Complete() ? 0 : 1;
}
