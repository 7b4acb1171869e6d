// The reader. The format is a fixed sequence of sections, each a few lines of numbers between a begin_ and an end_
// line:
//
//     begin_version 3 end_version                 begin_state, a value per variable, end_state
//     begin_metric 0|1 end_metric                 begin_goal, count, "variable value" lines, end_goal
//     count, begin_variable ... end_variable      count, begin_operator ... end_operator
//     count, begin_mutex_group ... end_mutex_group    count, begin_rule ... end_rule
//
// A line that is not what the format says ends the reading: nothing behind it can be trusted. A well-formed line with a
// number out of range is reported and reading goes on. Counts are never believed in advance: memory grows with what was
// read.
#include "sas/sas.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "support/lower_case.h"
#include "support/words.h"

namespace metactrl::sas {

namespace {

// Thrown inside this file when the rest of the text cannot be read; the diagnostic is already recorded.
struct Unreadable {};

std::string shortened(std::string_view text) {
  constexpr std::size_t kMaxShown = 40;
  std::string out;
  for (const char c : text.substr(0, kMaxShown))
    out += c < 0x20 || c > 0x7e ? '?' : c;  // not ASCII: not for a terminal
  return text.size() > kMaxShown ? out + "..." : out;
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& file, Diagnostics& diagnostics)
      : text_(text), diagnostics_(diagnostics) {
    task_.file = file;
  }

  SasTask read() {
    try {
      read_header();
      read_variables();
      read_mutex_groups();
      read_state();
      read_goal();
      const std::size_t num_operators = read_count("the number of operators");
      for (std::size_t i = 0; i < num_operators; ++i) read_operator();
      const std::size_t num_axioms = read_count("the number of axioms");
      for (std::size_t i = 0; i < num_axioms; ++i) read_axiom();
      while (!text_.empty()) {
        if (!next_line("the end of the file").empty())
          stop("expected the end of the file", "remove what follows the axioms");
      }
    } catch (const Unreadable&) {
    }
    return std::move(task_);
  }

 private:
  // --- lines and numbers ---------------------------------------------------------------------------------------------

  void error(const std::string& message, const std::string& hint) {
    diagnostics_.error({task_.file, line_, 1}, message, hint);
  }
  [[noreturn]] void stop(const std::string& message, const std::string& hint) {
    error(message, hint);
    throw Unreadable{};
  }

  // The next line without its end and surrounding blanks.
  std::string_view next_line(const char* expected) {
    ++line_;
    if (text_.empty()) stop(str_cat("the file ends where ", expected, " should be"), "translate the task again");
    const std::size_t end = text_.find('\n');
    current_ = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    return current_ = trim(current_);
  }

  void expect(const char* keyword) {
    if (next_line(keyword) == keyword) return;
    stop(str_cat("expected '", keyword, "', found '", shortened(current_), "'"),
         "only version 3 of Fast Downward's translator output can be read");
  }

  // All numbers of a line; `expected` says what they mean.
  std::vector<std::int64_t> next_numbers(const char* expected) {
    std::string_view rest = next_line(expected);
    std::vector<std::int64_t> numbers;
    while (!rest.empty()) {
      std::int64_t number = 0;
      const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      const bool separated = end == rest.data() + rest.size() || *end == ' ' || *end == '\t';
      if (failure != std::errc() || !separated) {
        stop(str_cat("expected ", expected, ", found '", shortened(current_), "'"), "write whole numbers");
      }
      numbers.push_back(number);
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    }
    return numbers;
  }

  std::int64_t next_number(const char* expected) {
    const std::vector<std::int64_t> numbers = next_numbers(expected);
    if (numbers.size() == 1) return numbers[0];
    stop(str_cat("expected ", expected, ", found '", shortened(current_), "'"), "write one number on this line");
  }

  std::size_t read_count(const char* expected) {
    const std::int64_t count = next_number(expected);
    if (count < 0) stop(str_cat(expected, " is negative"), "write how many follow");
    return static_cast<std::size_t>(count);
  }

  // Checks "variable value" and reports what is out of range; `ok` becomes false then.
  Assignment check(std::int64_t variable, std::int64_t value, bool& ok) {
    if (variable < 0 || variable >= static_cast<std::int64_t>(task_.variables.size())) {
      error(str_cat("there is no variable ", variable),
            task_.variables.empty() ? "the file declares none"
                                    : str_cat("the file declares 0 to ", task_.variables.size() - 1));
      ok = false;
      return {};
    }
    const Variable& v = task_.variables[static_cast<std::size_t>(variable)];
    if (value < 0 || value >= static_cast<std::int64_t>(v.values.size())) {
      error(str_cat("variable ", variable, " (", shortened(v.name), ") has no value ", value),
            str_cat("it has ", v.values.size(), " values, counted from 0"));
      ok = false;
      return {};
    }
    return {static_cast<std::uint32_t>(variable), static_cast<std::uint32_t>(value)};
  }

  // One "variable value" line.
  void read_assignment(std::vector<Assignment>& out) {
    const std::vector<std::int64_t> numbers = next_numbers("a variable and a value");
    if (numbers.size() != 2) {
      stop(str_cat("expected a variable and a value, found '", shortened(current_), "'"),
           "write two numbers on this line");
    }
    bool ok = true;
    const Assignment assignment = check(numbers[0], numbers[1], ok);
    if (ok) out.push_back(assignment);
  }

  // --- sections ------------------------------------------------------------------------------------------------------

  void read_header() {
    expect("begin_version");
    const std::int64_t version = next_number("the version");
    if (version != 3)
      stop(str_cat("version ", version, " of the format is not known"),
           "translate with a Fast Downward that writes version 3");
    expect("end_version");
    expect("begin_metric");
    const std::int64_t metric = next_number("0 or 1");
    if (metric != 0 && metric != 1) error(str_cat("the metric is ", metric), "write 0 (no costs) or 1 (costs)");
    task_.has_costs = metric == 1;
    expect("end_metric");
  }

  void read_variables() {
    const std::size_t count = read_count("the number of variables");
    for (std::size_t i = 0; i < count; ++i) {
      expect("begin_variable");
      Variable variable;
      variable.name = next_line("the variable's name");
      const std::int64_t layer = next_number("the axiom layer");
      if (layer < -1 || layer > std::numeric_limits<std::int32_t>::max()) {
        error(str_cat("the axiom layer is ", layer),
              "write -1 for a variable that no axiom changes, or a layer from 0");
      }
      variable.axiom_layer =
          static_cast<std::int32_t>(std::clamp<std::int64_t>(layer, -1, std::numeric_limits<std::int32_t>::max()));
      const std::size_t range = read_count("the number of values");
      if (range == 0) error(str_cat("variable ", i, " has no values"), "a variable needs at least one");
      if (variable.derived() && range != 2) {
        error(str_cat("variable ", i, " is set by axioms and has ", range, " values"),
              "only two-valued derived variables are understood");
      }
      for (std::size_t value = 0; value < range; ++value)
        variable.values.emplace_back(next_line("the name of a value"));
      task_.variables.push_back(std::move(variable));
      expect("end_variable");
    }
  }

  void read_mutex_groups() {
    const std::size_t count = read_count("the number of mutex groups");
    for (std::size_t i = 0; i < count; ++i) {
      expect("begin_mutex_group");
      const std::size_t size = read_count("the number of facts in the mutex group");
      std::vector<Assignment> ignored;
      for (std::size_t j = 0; j < size; ++j) read_assignment(ignored);
      expect("end_mutex_group");
    }
  }

  void read_state() {
    expect("begin_state");
    for (std::size_t i = 0; i < task_.variables.size(); ++i) {
      bool ok = true;
      const Assignment assignment = check(static_cast<std::int64_t>(i), next_number("an initial value"), ok);
      task_.initial.push_back(ok ? assignment.value : 0);
    }
    expect("end_state");
  }

  void read_goal() {
    expect("begin_goal");
    const std::size_t count = read_count("the number of goals");
    for (std::size_t i = 0; i < count; ++i) read_assignment(task_.goal);
    expect("end_goal");
  }

  void read_operator() {
    expect("begin_operator");
    Operator op;
    op.name = next_line("the operator's name");
    op.line = line_;
    normalise_name(op.name);
    if (op.name.empty()) error("the operator has no name", "write its name and arguments, as 'unload p1 t1 l1'");
    const std::size_t num_prevail = read_count("the number of prevail conditions");
    for (std::size_t i = 0; i < num_prevail; ++i) read_assignment(op.precondition);
    const std::size_t num_effects = read_count("the number of effects");
    for (std::size_t i = 0; i < num_effects; ++i) read_effect(op);
    const std::int64_t cost = next_number("the cost");
    if (cost < 0) error(str_cat("the cost is ", cost), "costs are 0 or more");
    if (task_.has_costs) op.cost = static_cast<double>(cost);
    expect("end_operator");
    task_.operators.push_back(std::move(op));
  }

  // Lower case, single blanks: as plans are read.
  static void normalise_name(std::string& name) {
    std::string out;
    for (const char c : name) {
      const bool blank = c == ' ' || c == '\t';
      if (blank && (out.empty() || out.back() == ' ')) continue;
      out += blank ? ' ' : internal::lower_case(c);
    }
    name = std::move(out);
  }

  // "n (variable value)*n variable old new", old = -1 for any.
  void read_effect(Operator& op) {
    const std::vector<std::int64_t> numbers = next_numbers("an effect");
    const bool sized = !numbers.empty() && numbers[0] >= 0 && numbers.size() >= 4 && (numbers.size() - 4) % 2 == 0 &&
                       static_cast<std::uint64_t>(numbers[0]) == (numbers.size() - 4) / 2;
    if (!sized) {
      stop(str_cat("expected an effect, found '", shortened(current_), "'"),
           "write the number of its conditions, variable and value of each, then variable, old value or -1, new value");
    }
    bool ok = true;
    Effect effect;
    for (std::size_t i = 1; i + 3 < numbers.size(); i += 2)
      effect.conditions.push_back(check(numbers[i], numbers[i + 1], ok));
    const std::int64_t variable = numbers[numbers.size() - 3];
    const std::int64_t old_value = numbers[numbers.size() - 2];
    effect.result = check(variable, numbers.back(), ok);
    if (ok && task_.variables[effect.result.variable].derived()) {
      error(str_cat("an operator changes variable ", variable, ", which axioms set"),
            "remove the effect or the axiom layer");
      ok = false;
    }
    if (ok && old_value != -1) {
      const Assignment required = check(variable, old_value, ok);
      if (ok) op.precondition.push_back(required);
    }
    if (ok) op.effects.push_back(std::move(effect));
  }

  void read_axiom() {
    expect("begin_rule");
    Axiom axiom;
    const std::size_t size = read_count("the number of conditions");
    for (std::size_t i = 0; i < size; ++i) read_assignment(axiom.body);
    const std::vector<std::int64_t> numbers = next_numbers("the rule's head");
    if (numbers.size() != 3) {
      stop(str_cat("expected the rule's head, found '", shortened(current_), "'"),
           "write variable, old value, new value");
    }
    bool ok = true;
    const Assignment old_value = check(numbers[0], numbers[1], ok);
    axiom.head = ok ? check(numbers[0], numbers[2], ok) : Assignment{};
    if (ok) check_axiom(axiom, old_value);
    expect("end_rule");
    task_.axioms.push_back(std::move(axiom));
  }

  void check_axiom(const Axiom& axiom, Assignment old_value) {
    const Variable& head = task_.variables[axiom.head.variable];
    const std::uint32_t standard = task_.initial[axiom.head.variable];
    if (!head.derived()) {
      return error(str_cat("an axiom sets variable ", axiom.head.variable, ", which has no axiom layer"),
                   "give it one");
    }
    if (old_value.value != standard || axiom.head.value == standard) {
      return error(str_cat("an axiom must turn variable ", axiom.head.variable, " from its initial value ", standard,
                           " to the other one"),
                   "the initial value of a derived variable is what holds when no axiom applies");
    }
    for (const Assignment& condition : axiom.body) {
      const Variable& v = task_.variables[condition.variable];
      const bool negative = condition.value == task_.initial[condition.variable];
      if (!v.derived() || v.axiom_layer < head.axiom_layer) continue;
      if (v.axiom_layer == head.axiom_layer && !negative) continue;
      error(str_cat("an axiom of layer ", head.axiom_layer, negative ? " tests the default value of" : " tests",
                    " variable ", condition.variable, " of layer ", v.axiom_layer),
            "a rule may use its own layer positively and lower layers freely");
    }
  }

  std::string_view text_;
  std::string_view current_;
  std::uint32_t line_ = 0;
  Diagnostics& diagnostics_;
  SasTask task_;
};

}  // namespace

SasTask parse(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  return Reader(text, file, diagnostics).read();
}

std::vector<std::vector<std::uint32_t>> group_operators(const SasTask& task) {
  std::map<std::string_view, std::size_t> group_of;
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::uint32_t i = 0; i < task.operators.size(); ++i) {
    const auto [entry, added] = group_of.try_emplace(task.operators[i].name, groups.size());
    if (added) groups.emplace_back();
    groups[entry->second].push_back(i);
  }
  return groups;
}

}  // namespace metactrl::sas
