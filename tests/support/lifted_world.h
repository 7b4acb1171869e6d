// A world for behavior trees that knows nothing of the compiled task: the reference meaning of PDDL carries out actions
// and answers questions.
#ifndef METACTRL_TESTS_SUPPORT_LIFTED_WORLD_H_
#define METACTRL_TESTS_SUPPORT_LIFTED_WORLD_H_

#include <cctype>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "metactrl/error.h"
#include "pddl/interpret.h"
#include "pddl/parse.h"
#include "support/behavior_tree.h"

namespace metactrl::testing {

inline std::shared_ptr<const pddl::LiftedInterpreter> lifted_interpreter(const std::string& domain,
                                                                         const std::string& problem) {
  Diagnostics diagnostics;
  auto ast = std::make_shared<pddl::Ast>(pddl::parse({"domain", domain}, {"problem", problem}, diagnostics));
  if (diagnostics.has_errors()) throw InputError(diagnostics);
  return std::make_shared<pddl::LiftedInterpreter>(std::move(ast));
}

class LiftedWorld : public TreeWorld {
 public:
  // Every action is running for `patience` ticks before it is carried out.
  explicit LiftedWorld(std::shared_ptr<const pddl::LiftedInterpreter> interpreter, std::size_t patience = 0)
      : interpreter_(std::move(interpreter)), facts_(interpreter_->initial()), patience_(patience) {}

  bool holds(const std::string& fact) override {
    ++questions_;
    if (const std::optional<bool> compared = compare(fact)) return *compared;
    for (const pddl::Fact& one : facts_) {
      if (interpreter_->fact_text(one) == fact) return true;
    }
    return false;
  }

  TickStatus execute(const std::string& id, const Ports& ports) override {
    std::string key = id;
    for (const auto& port : ports) key += " " + port.second;
    std::size_t& left = left_.try_emplace(key, patience_).first->second;
    if (left > 0) {
      --left;
      return TickStatus::kRunning;
    }
    left_.erase(key);
    const std::optional<pddl::Instance> instance = find(id, ports);
    if (!instance || !interpreter_->applicable(facts_, *instance) || fails_) return TickStatus::kFailure;
    facts_ = interpreter_->apply(facts_, *instance);
    return TickStatus::kSuccess;
  }

  void break_actions() { fails_ = true; }
  void forget(const std::string& fact) {
    std::erase_if(facts_, [&](const pddl::Fact& one) { return interpreter_->fact_text(one) == fact; });
  }
  bool goal_holds() const { return interpreter_->goal_holds(facts_); }
  std::size_t questions() const { return questions_; }

 private:
  using Rational = internal::Rational;

  // "(>= (battery r) 3)"; nothing for what compares no numbers.
  std::optional<bool> compare(const std::string& text) const {
    const std::string how = text.substr(1, text.find(' ') - 1);
    const bool known = how == "=" || how == "<" || how == "<=" || how == ">" || how == ">=";
    if (!known) return std::nullopt;
    std::size_t at = how.size() + 2;
    const std::optional<Rational> left = value(text, at);
    const std::optional<Rational> right = value(text, ++at);
    if (!left || !right) return false;
    return (*left < *right && how[0] == '<') || (*left > *right && how[0] == '>') ||
           (*left == *right && how.back() == '=');
  }

  // Of the expression that begins at `at`, which is moved behind it.
  std::optional<Rational> value(const std::string& text, std::size_t& at) const {
    const std::size_t begin = at;
    if (text[at] != '(') {
      at = text.find_first_of(" )", at);
      return Rational::parse(text.substr(begin, at - begin));
    }
    if (std::string("+-*/").find(text[at + 1]) == std::string::npos) {
      at = text.find(')', at) + 1;
      for (const auto& [fluent, number] : facts_.values) {
        if (interpreter_->fluent_text(fluent) == text.substr(begin, at - begin)) return number;
      }
      return std::nullopt;
    }
    const char how = text[at + 1];
    at += 3;
    const std::optional<Rational> left = value(text, at);
    const std::optional<Rational> right = value(text, ++at);
    ++at;
    if (!left || !right) return std::nullopt;
    return how == '+'   ? add(*left, *right)
           : how == '-' ? subtract(*left, *right)
           : how == '*' ? multiply(*left, *right)
                        : divide(*left, *right);
  }

  // "PickUp" is the action "pick-up".
  static std::string plain(const std::string& name) {
    std::string out;
    for (const char c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0)
        out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
  }

  std::optional<pddl::Instance> find(const std::string& id, const Ports& ports) const {
    const pddl::Ast& ast = interpreter_->ast();
    for (const ActionNameId i : ast.actions.all()) {
      if (plain(ast.actions[i].name) != plain(id) || ast.actions[i].num_parameters != ports.size()) continue;
      pddl::Instance instance{i, {}};
      for (const auto& port : ports) {
        for (const ObjectId object : ast.objects.all()) {
          if (ast.objects[object].name == port.second) instance.arguments.push_back(object);
        }
      }
      if (instance.arguments.size() == ports.size()) return instance;
    }
    return std::nullopt;
  }

  std::shared_ptr<const pddl::LiftedInterpreter> interpreter_;
  pddl::Facts facts_;
  std::size_t patience_;
  std::map<std::string, std::size_t> left_;  // of actions that are running
  std::size_t questions_ = 0;
  bool fails_ = false;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_LIFTED_WORLD_H_
