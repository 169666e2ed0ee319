#include "bus.hpp"
#include <cstdlib>
#include <map>
#include <sstream>
#include <stdexcept>

using namespace mbus;

namespace {

struct Options {
    unsigned publishers = 2;
    unsigned mailboxes = 2;
    long messages = 0;
    std::string name = "mbus";
};

const char kDefaults[] = "name=demo\n"
                         "publishers=2\n"
                         "mailboxes=2\n"
                         "messages=150000\n";

Options parse(const std::string &text) {
    std::map<std::string, std::string> kv;
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line)) {
        auto eq = line.find('=');
        if (line.empty() || line[0] == '#')
            continue;
        if (eq == std::string::npos)
            throw std::runtime_error("bad option: " + line);
        kv[line.substr(0, eq)] = line.substr(eq + 1);
    }
    Options o;
    o.name = kv.at("name");
    o.publishers = static_cast<unsigned>(std::stoul(kv.at("publishers")));
    o.mailboxes = static_cast<unsigned>(std::stoul(kv.at("mailboxes")));
    o.messages = std::stol(kv.at("messages"));
    if (const char *e = std::getenv("LOAD"))
        o.messages = std::strtol(e, nullptr, 0);
    if (o.publishers == 0 || o.publishers > 4 || o.mailboxes != 2)
        throw std::runtime_error("unsupported number of threads");
    return o;
}

// the event log: every access is under its own lock
class EventLog {
public:
    void add(const char *what, std::uint64_t v) {
        std::lock_guard<std::mutex> g(mu_);
        last_ = v;
        entries_++;
        std::snprintf(text_, sizeof text_, "%s %llu", what, static_cast<unsigned long long>(v));
    }
    std::uint64_t entries() {
        std::lock_guard<std::mutex> g(mu_);
        return entries_;
    }

private:
    std::mutex mu_;
    std::uint64_t last_ = 0;
    std::uint64_t entries_ = 0;
    char text_[48] = {};
};

// warm-up: two passes by two threads, one after the other
struct alignas(kLine) Warmup {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
};

class Application {
public:
    explicit Application(const Options &o) : opt_(o), bus_(o.publishers, o.mailboxes) {
        for (unsigned i = 0; i < o.publishers; i++)
            sessions_.emplace_back(i);
        for (unsigned t = 0; t < kTopics; t++)
            bus_.topics().subscribe(t, t % o.mailboxes);
        bus_.attach(0, &bus_.audit());
        bus_.attach(1, &bus_.meter());
    }

    void warm() {
        auto pass = [](std::uint64_t &n) {
            for (unsigned i = 0; i < 50; i++)
                reinterpret_cast<std::atomic<std::uint64_t> &>(n).fetch_add(i);
        };
        std::thread a(pass, std::ref(warm_.first));
        a.join();
        std::thread b(pass, std::ref(warm_.second));
        b.join();
    }

    int run() {
        struct alignas(kLine) {
            std::uint64_t even = 0;
            std::uint64_t odd = 0;
            std::uint64_t longest = 0;
        } tally;
        bus_.on_message(0, [&tally](const Msg &m) {
            tally.even += m.len;
        });
        bus_.on_message(1, [&tally](const Msg &m) {
            tally.odd++;
            if (m.len > tally.longest)
                tally.longest = m.len;
        });
        std::vector<std::thread> pubs, subs;
        for (unsigned i = 0; i < opt_.mailboxes; i++)
            subs.emplace_back([this, i] { bus_.consume(i); });
        std::thread disp([this] { bus_.dispatch(); });
        for (unsigned i = 0; i < opt_.publishers; i++)
            pubs.emplace_back([this, i] { publisher(i); });
        for (auto &t : pubs)
            t.join();
        bus_.producers_done();
        disp.join();
        for (auto &t : subs)
            t.join();
        std::printf("even bytes %llu odd %llu longest %llu\n",
                    static_cast<unsigned long long>(tally.even),
                    static_cast<unsigned long long>(tally.odd),
                    static_cast<unsigned long long>(tally.longest));
        return 0;
    }

    void report() {
        for (auto &s : sessions_)
            std::printf("session %u: %llu messages, %llu bytes\n", s.id(),
                        static_cast<unsigned long long>(s.published()),
                        static_cast<unsigned long long>(s.bytes()));
        std::printf("audit %llu meter %llx lookups %llu events %llu warm %llu\n",
                    static_cast<unsigned long long>(bus_.audit().value()),
                    static_cast<unsigned long long>(bus_.meter().value()),
                    static_cast<unsigned long long>(bus_.topics().lookups()),
                    static_cast<unsigned long long>(log_.entries()),
                    static_cast<unsigned long long>(warm_.first + warm_.second));
        bus_.report(stdout);
    }

private:
    void publisher(unsigned i) {
        Session &s = sessions_[i];
        char text[40];
        std::uint32_t x = 88172645u + i * 77u;
        for (long n = 0; n < opt_.messages; n++) {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            int len = std::snprintf(text, sizeof text, "%s-%u-%ld", "tick", x % 1000, n);
            // publisher i keeps to its own topics
            unsigned topic = (x >> 8) % (kTopics / 2) * 2 + i % 2;
            if (!bus_.publish(s, topic, text, static_cast<std::size_t>(len)))
                log_.add("rejected", static_cast<std::uint64_t>(n));
            if (n % 65536 == 65535)
                log_.add("milestone", static_cast<std::uint64_t>(n));
        }
    }

    const Options opt_;
    Bus bus_;
    std::vector<Session> sessions_;
    alignas(kLine) EventLog log_;
    Warmup warm_;
};

} // namespace

int main() {
    try {
        Options o = parse(kDefaults);
        auto app = std::make_unique<Application>(o);
        std::printf("%s: %u publishers, %u mailboxes, %ld messages each\n", o.name.c_str(),
                    o.publishers, o.mailboxes, o.messages);
        app->warm();
        app->run();
        app->report();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "mbus: %s\n", e.what());
        return 1;
    }
    return 0;
}
