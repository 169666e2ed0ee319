// graph.hh - compressed sparse row graph, and the per-node record.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace linkrank {

using node_t = std::uint32_t;

struct Edge {
    node_t from, to;
};

class Graph {
public:
    static Graph random(node_t nodes, unsigned degree, std::uint32_t seed);
    static Graph load(const std::string &path);   // throws std::runtime_error

    node_t size() const { return static_cast<node_t>(first_.size() - 1); }
    std::size_t edges() const { return target_.size(); }
    const node_t *begin(node_t v) const { return target_.data() + first_[v]; }
    const node_t *end(node_t v) const { return target_.data() + first_[v + 1]; }
    unsigned degree(node_t v) const { return first_[v + 1] - first_[v]; }

private:
    static Graph build(node_t nodes, const std::vector<Edge> &list);
    std::vector<std::uint32_t> first_;
    std::vector<node_t> target_;
};

} // namespace linkrank
