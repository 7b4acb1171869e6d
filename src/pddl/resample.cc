#include "pddl/resample.h"

#include <algorithm>
#include <set>
#include <utility>

#include "support/lower_case.h"
#include "support/splitmix.h"

namespace metactrl::pddl {

namespace {

// Of the goal's conjuncts, so many percent stay.
constexpr std::size_t kKeptPercent = 70;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

ProblemResampler::Node ProblemResampler::read(std::string_view text) {
  std::vector<Node> open(1);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ';') {
      at = std::min(text.find_first_of("\r\n", at), text.size());
    } else if (c == '(') {
      open.emplace_back();
      open.back().is_list = true;
      ++at;
    } else if (c == ')') {
      if (open.size() > 1) {
        Node done = std::move(open.back());
        open.pop_back();
        open.back().members.push_back(std::move(done));
      }
      ++at;
    } else if (is_space(c)) {
      ++at;
    } else {
      Node name;
      for (; at < text.size() && !is_space(text[at]) && text[at] != '(' && text[at] != ')' && text[at] != ';'; ++at) {
        name.name += internal::lower_case(text[at]);
      }
      // A dash without a blank begins a type, as in the loader.
      const bool glued = name.name.size() > 1 && name.name[0] == '-' && !internal::is_digit(name.name[1]);
      if (glued) {
        name.name.erase(0, 1);
        open.back().members.push_back({"-", {}, false});
      }
      open.back().members.push_back(std::move(name));
    }
  }
  return open.front().members.empty() ? Node{} : std::move(open.front().members.front());
}

void ProblemResampler::write(const Node& node, std::string& out) {
  if (!node.is_list) {
    out += node.name;
    return;
  }
  out += '(';
  for (std::size_t i = 0; i < node.members.size(); ++i) {
    if (i > 0) out += ' ';
    write(node.members[i], out);
  }
  out += ')';
}

ProblemResampler::Node* ProblemResampler::section(Node& root, std::string_view head) {
  for (Node& member : root.members) {
    if (member.is_list && !member.members.empty() && member.members[0].name == head) return &member;
  }
  return nullptr;
}

std::string ProblemResampler::canonical(const Node& root) {
  std::vector<std::string> lines;
  for (const Node& part : root.members) {
    if (!part.is_list || part.members.empty()) continue;
    const std::string& head = part.members[0].name;
    if (head == "problem") continue;  // its name
    const bool conjunction = head == ":goal" && part.members.size() == 2 && part.members[1].is_list &&
                             !part.members[1].members.empty() && part.members[1].members[0].name == "and";
    const Node& list = conjunction ? part.members[1] : part;
    if (head == ":init" || head == ":goal") {
      for (std::size_t i = 1; i < list.members.size(); ++i) {
        std::string text = head + " ";
        write(list.members[i], text);
        lines.push_back(std::move(text));
      }
    } else {
      std::string text;
      write(part, text);
      lines.push_back(std::move(text));
    }
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

std::string ProblemResampler::canonical(std::string_view problem) { return canonical(read(problem)); }

ProblemResampler::ProblemResampler(std::string_view problem) : root_(read(problem)), own_(canonical(root_)) {
  find_kinds();
}

void ProblemResampler::find_kinds() {
  const Node* const objects = section(root_, ":objects");
  if (objects == nullptr) return;
  std::map<std::string, std::string> kind;  // per object
  std::vector<std::string> untyped;
  for (std::size_t i = 1; i < objects->members.size(); ++i) {
    const Node& member = objects->members[i];
    if (member.name != "-" || member.is_list) {
      untyped.push_back(member.name);
      continue;
    }
    std::string type;
    if (++i < objects->members.size()) write(objects->members[i], type);
    for (const std::string& name : untyped) kind[name] = type;
    untyped.clear();
  }
  for (const std::string& name : untyped) kind[name] = "";
  std::map<std::string, std::set<std::string>> facts;
  if (const Node* const init = section(root_, ":init"); init != nullptr) {
    for (const Node& fact : init->members) {
      if (fact.members.size() == 2 && kind.contains(fact.members[1].name)) {
        facts[fact.members[1].name].insert(fact.members[0].name);
      }
    }
  }
  std::map<std::string, std::vector<std::string>> by_kind;
  for (auto& [object, type] : kind) {
    for (const std::string& fact : facts[object]) type += " " + fact;
    by_kind[type].push_back(object);
  }
  for (auto& [type, members] : by_kind) {
    if (members.size() > 1) kinds_.push_back(std::move(members));
  }
}

// The first member of a list is a predicate or a keyword, never an object.
void ProblemResampler::rename(Node& node, const Renaming& renaming) {
  for (std::size_t i = 0; i < node.members.size(); ++i) {
    Node& member = node.members[i];
    if (member.is_list) {
      rename(member, renaming);
    } else if (const auto found = renaming.find(member.name); i > 0 && found != renaming.end()) {
      member.name = found->second;
    }
  }
}

std::optional<std::string> ProblemResampler::sample(std::uint64_t seed) const {
  internal::Random random(seed);
  const auto draw = [&] {
    Renaming renaming;
    for (const std::vector<std::string>& kind : kinds_) {
      std::vector<std::string> order = kind;
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      for (std::size_t i = 0; i < kind.size(); ++i) renaming[kind[i]] = order[i];
    }
    return renaming;
  };
  Node root = root_;
  if (Node* const init = section(root, ":init"); init != nullptr) rename(*init, draw());
  if (Node* const goal = section(root, ":goal"); goal != nullptr && goal->members.size() == 2) {
    Node& condition = goal->members[1];
    rename(condition, draw());
    if (condition.is_list && condition.members.size() > 2 && condition.members[0].name == "and") {
      std::vector<Node> kept{condition.members[0]};
      const std::size_t sure = 1 + random.below(condition.members.size() - 1);
      for (std::size_t i = 1; i < condition.members.size(); ++i) {
        const bool keep = random.below(100) < kKeptPercent;
        if (keep || i == sure) kept.push_back(std::move(condition.members[i]));
      }
      condition.members = std::move(kept);
    }
  }
  if (canonical(root) == own_) return std::nullopt;
  std::string text;
  write(root, text);
  return text;
}

}  // namespace metactrl::pddl
