// Costs that Fast Downward reads: whole numbers, and one number or one function per action.
//
// Scaling. A cost like 2.75 is a decimal fraction; the least number that makes all costs of the task whole is a product
// of twos and fives (4 for 2.75 and 0.5). All costs are multiplied by it, so that plans compare as before. A double is
// taken for the decimal number of 15 digits next to it, which is what was written. Planners add up costs in 32 bits:
// when a hundred of the most expensive actions would not fit, costs are scaled by a power of ten instead and rounded,
// and none becomes 0 by that. Whole numbers are left as they are as long as one action fits.
//
// Sums. An action that adds several numbers or functions gets one function of its parameters, with the sums as values.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "exchange/standard.h"
#include "metactrl/error.h"
#include "support/json_text.h"
#include "support/words.h"

namespace metactrl::exchange {

using pddl::CostTerm;
using pddl::FunctionId;

namespace {

constexpr double kMaxCost = 2147483647;            // of one action
constexpr double kMaxScaledCost = kMaxCost / 100;  // of one action, where we choose the scale

// The least power of two and of five that make a number whole, times each other.
struct Denominator {
  int twos = 0;
  int fives = 0;

  void add(double value) {
    std::array<char, 64> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, 14).ptr;
    // "d.dddddddddddddde-xx": the digits as a whole number, and the power of ten of the last one.
    const auto exponent_at = std::find(text.data(), end, 'e');
    std::int64_t digits = 0;
    for (const char* c = text.data(); c != exponent_at; ++c) {
      if (*c >= '0' && *c <= '9') digits = digits * 10 + (*c - '0');
    }
    int exponent = 0;
    const char* first = exponent_at + 1;
    if (first < end && *first == '+') ++first;
    std::from_chars(first, end, exponent);
    if (digits == 0) return;
    const int places = 14 - exponent;
    twos = std::max(twos, places - times_in(2, digits));
    fives = std::max(fives, places - times_in(5, digits));
  }

  double value() const { return std::ldexp(std::pow(5.0, fives), twos); }

 private:
  static int times_in(std::int64_t factor, std::int64_t number) {
    int times = 0;
    for (; number % factor == 0; number /= factor) ++times;
    return times;
  }
};

class CostScaler {
 public:
  explicit CostScaler(Ast& ast) : ast_(ast) {
    for (const Action& action : ast.actions) {
      for (const CostTerm& term : action.costs) {
        if (term.function) functions_.insert(*term.function);
      }
    }
  }

  double run(std::vector<std::string>& notes) {
    Denominator denominator;
    for_each_value([&](double& value) { denominator.add(value); });
    const double largest = most();
    double factor = denominator.value();
    if (largest == 0 || (factor == 1 && largest <= kMaxCost)) return 1;
    const bool exact = largest * factor <= kMaxScaledCost;
    if (!exact) factor = std::pow(10.0, std::floor(std::log10(kMaxScaledCost / largest)));
    for_each_value([&](double& value) {
      const double scaled = std::round(value * factor);
      value = value > 0 ? std::max(scaled, 1.0) : scaled;
    });
    notes.push_back(exact ? str_cat("costs are ", internal::number_text(factor),
                                    " times those of the task, so that all are whole numbers")
                          : str_cat("costs are ", internal::number_text(factor),
                                    " times those of the task and rounded: as exact whole numbers they would not fit "
                                    "into the 32 bits of planners"));
    return factor;
  }

 private:
  template <typename Visit>
  void for_each_value(const Visit& visit) {
    for (Action& action : ast_.actions) {
      for (CostTerm& term : action.costs) {
        if (!term.function) visit(term.constant);
      }
    }
    for (pddl::FunctionValue& value : ast_.init_values) {
      if (functions_.contains(value.function)) visit(value.value);
    }
  }

  // No action costs more than this.
  double most() const {
    std::map<FunctionId, double> of;
    for (const pddl::FunctionValue& value : ast_.init_values) {
      of[value.function] = std::max(of[value.function], value.value);
    }
    double result = 0;
    for (const Action& action : ast_.actions) {
      double sum = 0;
      for (const CostTerm& term : action.costs) sum += term.function ? of[*term.function] : term.constant;
      result = std::max(result, sum);
    }
    return result;
  }

  Ast& ast_;
  std::set<FunctionId> functions_;  // those that costs name
};

class CostSimplifier {
 public:
  explicit CostSimplifier(Ast& ast) : ast_(ast) {
    for (const pddl::FunctionValue& value : ast.init_values) values_[{value.function, value.arguments}] = value.value;
  }

  // At most one term per action: a number or one function.
  std::size_t run() {
    std::size_t changed = 0;
    for (Action& action : ast_.actions) {
      double constant = 0;
      std::vector<CostTerm> functions;
      for (const CostTerm& term : action.costs) {
        constant += term.constant;
        if (term.function) functions.push_back(term);
      }
      if (action.costs.empty() || (functions.size() == 1 && constant == 0)) {
        for (CostTerm& term : functions) action.costs = {std::move(term)};
      } else if (functions.empty()) {
        action.costs = {{constant, std::nullopt, {}}};
      } else {
        tabulate(action);
        ++changed;
      }
    }
    return changed;
  }

 private:
  // A function of the action's parameters with the sums as values.
  void tabulate(Action& action) {
    const auto function = ast_.functions.next_id();
    pddl::Function declared;
    declared.name = "cost-of-" + action.name;
    CostTerm term{0, function, {}};
    for (const VariableId i : internal::ids<VariableId>(action.num_parameters)) {
      declared.parameters.push_back(action.variables[i]);
      term.arguments.push_back(Term(i));
    }
    ast_.functions.push_back(std::move(declared));
    pddl::Binding binding;
    fill(action, function, binding);
    action.costs = {std::move(term)};
  }

  void fill(const Action& action, FunctionId function, pddl::Binding& binding) {
    if (binding.size() < action.num_parameters) {
      for (const ObjectId object : ast_.objects_of(action.variables[binding.next_id()].types)) {
        binding.push_back(object);
        fill(action, function, binding);
        binding.pop_back();
      }
      return;
    }
    constexpr std::size_t kMaxValues = 1'000'000;
    if (++count_ > kMaxValues) {
      throw InputError("export", str_cat("the costs of (", action.name, ") are a sum with too many different values"),
                       "state one function as the cost of the action");
    }
    double sum = 0;
    for (const CostTerm& term : action.costs) {
      sum += term.constant;
      if (!term.function) continue;
      std::vector<ObjectId> arguments;
      for (const Term& t : term.arguments) arguments.push_back(t.under(binding));
      const auto value = values_.find({*term.function, arguments});
      if (value == values_.end()) return;  // no value: no such action
      sum += value->second;
    }
    ast_.init_values.push_back({function, binding, sum});
  }

  Ast& ast_;
  std::map<std::pair<FunctionId, std::vector<ObjectId>>, double> values_;
  std::size_t count_ = 0;
};

}  // namespace

double scale_costs(Ast& ast, std::vector<std::string>& notes) { return CostScaler(ast).run(notes); }

void simplify_costs(Ast& ast, std::vector<std::string>& notes) {
  if (CostSimplifier(ast).run() > 0) notes.emplace_back("sums of costs are written as one function each");
}

}  // namespace metactrl::exchange
