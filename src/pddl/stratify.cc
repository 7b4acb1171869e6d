// Negation among derived predicates.
//
// The value of derived predicates is the least fixpoint of their rules, taken stratum by stratum. That is well defined
// when no predicate depends on its own negation. Draw an edge from a rule's head to each derived predicate in its body;
// the edge is negative when the predicate stands under an odd number of `not`. The rules are stratified exactly when no
// negative edge lies inside a strongly connected component. (Counting quantifiers are monotone, so they keep the sign.)
#include <algorithm>
#include <vector>

#include "pddl/parser.h"
#include "pddl/strata.h"
#include "support/str_cat.h"

namespace metactrl::pddl {

using internal::str_cat;

namespace {

struct Edge {
  PredicateId to{};
  bool negative = false;
  Position where;
};

using Dependencies = IdVector<PredicateId, std::vector<Edge>>;

void collect(const Ast& ast, const Condition& condition, bool negative, std::vector<Edge>& edges) {
  if (condition.kind == Condition::Kind::kAtom && ast.predicates[condition.atom.predicate].derived) {
    edges.push_back({condition.atom.predicate, negative, condition.where});
  }
  const bool flip = condition.kind == Condition::Kind::kNot;
  for (const Condition& child : condition.children) collect(ast, child, negative != flip, edges);
}

Dependencies dependencies(const Ast& ast) {
  Dependencies edges(ast.predicates.size());
  for (const Axiom& axiom : ast.axioms) collect(ast, axiom.body, false, edges[axiom.head]);
  return edges;
}

// Tarjan's algorithm with an explicit stack. Returns the component of each node.
IdVector<PredicateId, std::uint32_t> components(const Dependencies& edges) {
  constexpr std::uint32_t kNone = 0xffffffffU;
  struct Frame {
    PredicateId node;
    std::size_t next_edge;
  };
  const std::size_t size = edges.size();
  IdVector<PredicateId, std::uint32_t> order(size, kNone);
  IdVector<PredicateId, std::uint32_t> low(size, 0);
  IdVector<PredicateId, std::uint32_t> component(size, kNone);
  std::vector<PredicateId> stack;
  std::vector<Frame> frames;
  std::uint32_t counter = 0;
  std::uint32_t num_components = 0;
  const auto enter = [&](PredicateId node) {
    order[node] = low[node] = counter++;
    stack.push_back(node);
    frames.push_back({node, 0});
  };
  for (const PredicateId start : edges.all()) {
    if (order[start] == kNone) enter(start);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const PredicateId node = frame.node;
      if (frame.next_edge < edges[node].size()) {
        const PredicateId to = edges[node][frame.next_edge++].to;
        if (order[to] == kNone) {
          enter(to);
        } else if (component[to] == kNone) {
          low[node] = std::min(low[node], order[to]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[node]);
      if (low[node] != order[node]) continue;
      while (component[node] == kNone) {
        component[stack.back()] = num_components;
        stack.pop_back();
      }
      ++num_components;
    }
  }
  return component;
}

}  // namespace

IdVector<PredicateId, std::uint32_t> recursion_components(const Ast& ast) { return components(dependencies(ast)); }

bool stratified(const Ast& ast) {
  const Dependencies edges = dependencies(ast);
  const IdVector<PredicateId, std::uint32_t> component = components(edges);
  for (const PredicateId from : edges.all()) {
    for (const Edge& edge : edges[from]) {
      if (edge.negative && component[from] == component[edge.to]) return false;
    }
  }
  return true;
}

void Parser::check_strata() {
  if (ast_.axioms.empty()) return;
  const Dependencies edges = dependencies(ast_);
  const IdVector<PredicateId, std::uint32_t> component = components(edges);
  for (const PredicateId from : edges.all()) {
    for (const Edge& edge : edges[from]) {
      if (!edge.negative || component[from] != component[edge.to]) continue;
      const std::string& name = ast_.predicates[edge.to].name;
      if (!reporter_.first("stratum", name)) continue;
      reporter_.error(edge.where,
                      from == edge.to ? str_cat("derived predicate ", in_quotes(name), " depends on its own negation")
                                      : str_cat("derived predicates ", in_quotes(ast_.predicates[from].name), " and ",
                                                in_quotes(name), " depend on each other through this negation"),
                      "rewrite the rules so that no cycle goes through 'not'");
    }
  }
}

}  // namespace metactrl::pddl
