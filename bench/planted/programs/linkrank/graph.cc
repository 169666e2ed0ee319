#include "graph.hh"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace linkrank {

Graph Graph::build(node_t nodes, const std::vector<Edge> &list)
{
    Graph g;
    g.first_.assign(nodes + 1, 0);
    for (const Edge &e : list)
        ++g.first_[e.from + 1];
    for (node_t v = 0; v < nodes; ++v)
        g.first_[v + 1] += g.first_[v];
    g.target_.resize(list.size());
    std::vector<std::uint32_t> fill(g.first_.begin(), g.first_.end() - 1);
    for (const Edge &e : list)
        g.target_[fill[e.from]++] = e.to;
    return g;
}

Graph Graph::random(node_t nodes, unsigned degree, std::uint32_t seed)
{
    std::vector<Edge> list;
    list.reserve(std::size_t(nodes) * degree);
    for (node_t v = 0; v < nodes; ++v) {
        const unsigned out = 1 + (seed >> 10) % (2 * degree - 1);
        for (unsigned d = 0; d < out; ++d) {
            seed = seed * 1664525u + 1013904223u;
            list.push_back({v, (seed >> 8) % nodes});
        }
    }
    return build(nodes, list);
}

Graph Graph::load(const std::string &path)
{
    std::ifstream in(path);
    if (!in)
        throw std::runtime_error("cannot open " + path);
    std::vector<Edge> list;
    node_t top = 0;
    for (Edge e; in >> e.from >> e.to;) {
        top = std::max({top, e.from, e.to});
        list.push_back(e);
    }
    if (list.empty())
        throw std::runtime_error(path + ": no edges");
    return build(top + 1, list);
}

} // namespace linkrank
