#include <csignal>
#include <cstring>
#include <exception>

#include "engine.h"

namespace {

extern "C" void OnSignal(int) { colvault::g_stop.store(true); }

const char* const kConfig =
    "scan_workers=3\n"
    "sessions=2\n"
    "merge_threshold=96\n"
    "data_dir=/tmp/colvault\n";

bool LoadConfig(colvault::SettingsRegistry& registry, std::string_view text) {
  bool ok = true;
  while (!text.empty()) {
    const auto eol = text.find('\n');
    const auto line = text.substr(0, eol);
    const auto eq = line.find('=');
    if (eq == std::string_view::npos || !registry.Apply(line.substr(0, eq), line.substr(eq + 1))) {
      CV_LOG(kError, "config: cannot use '%.*s'", static_cast<int>(line.size()), line.data());
      ok = false;
    }
    if (eol == std::string_view::npos) break;
    text.remove_prefix(eol + 1);
  }
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
  colvault::SettingsRegistry registry{colvault::Settings{}};
  if (!LoadConfig(registry, kConfig)) return 2;
  if (argc > 1) registry.Apply("rounds", argv[1]);
  try {
    auto table = colvault::Table::Create("orders", 4, 12);
    if (table->Find("price") == nullptr) throw std::runtime_error("no column price");
    auto engine = std::make_unique<colvault::Engine>(registry, table);
    engine->Run();
    engine->Report();
  } catch (const std::exception& e) {
    CV_LOG(kError, "fatal: %s", e.what());
    return 1;
  }
  return 0;
}
