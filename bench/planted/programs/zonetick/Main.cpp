#include "Server.h"

#include <exception>

static const char* const kDefaultConfig =
	"# harbour, three workers\n"
	"tick_rate = 30\n"
	"max_speed = 9\n"
	"gravity = 2\n"
	"workers = 3\n"
	"gateways = 2\n";

int main(int argc, char** argv)
{
	if (!ParseConfig(kDefaultConfig))
		return 2;
	if (argc > 1)
		g_config.rounds = static_cast<uint32>(std::strtoul(argv[1], nullptr, 10));
	if (const char* level = std::getenv("ZONETICK_LOG"))
		Log::s_level = std::atoi(level);
	try
	{
		auto server = std::make_unique<Server>();
		return server->Run();
	}
	catch (const std::exception& e)
	{
		ZT_LOG(0, "fatal: %s", e.what());
		return 1;
	}
}
