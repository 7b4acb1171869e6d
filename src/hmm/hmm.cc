// Alphabets, models and the likelihood of one sequence.
//
// The likelihood runs forward: the vector f(z) = p(x_1 ... x_t, z_(t+1) = z) is multiplied by the emissions of the next
// symbol and by the transitions, and scaled to sum 1 each time; the logarithms of the scales add up to the result. So
// nothing underflows however long the sequence is.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "hmm/hmm_data.h"
#include "metactrl/error.h"
#include "support/splitmix.h"
#include "support/str_cat.h"

namespace metactrl {

using internal::str_cat;

namespace {

// Of a row: 32-bit floats that were rounded one by one, or written by another program.
constexpr double kTolerance = 1e-3;

struct Parameters {
  std::vector<float> initial;
  std::vector<float> transition;
  std::vector<float> emission;
};

}  // namespace

Alphabet Alphabet::meta(const std::vector<std::string>& action_names, std::size_t num_slots) {
  Alphabet alphabet;
  alphabet.names = action_names;
  std::sort(alphabet.names.begin(), alphabet.names.end());
  const auto twice = std::adjacent_find(alphabet.names.begin(), alphabet.names.end());
  if (twice != alphabet.names.end()) {
    throw InputError("alphabet", str_cat("two actions are called '", *twice, "'"), "name each action once");
  }
  alphabet.num_actions = alphabet.names.size();
  alphabet.num_slots = num_slots;
  for (std::size_t slot = 0; slot < num_slots; ++slot) alphabet.names.push_back(str_cat("ID", slot));
  alphabet.names.emplace_back("UNK");
  alphabet.names.emplace_back("EOS");
  alphabet.size = alphabet.names.size();
  alphabet.end = SymbolId{static_cast<std::uint32_t>(alphabet.size - 1)};
  return alphabet;
}

Alphabet Alphabet::tokens(std::size_t size, std::uint32_t end, std::uint64_t vocabulary) {
  if (end >= size) {
    throw InputError("alphabet", str_cat("the end, token ", end, ", is not one of ", size, " tokens"),
                     "give the vocabulary's own end-of-turn token");
  }
  Alphabet alphabet;
  alphabet.size = size;
  alphabet.end = SymbolId{end};
  alphabet.vocabulary = vocabulary;
  return alphabet;
}

SymbolId Alphabet::action(std::string_view name) const {
  const auto end_of_actions = names.begin() + static_cast<std::ptrdiff_t>(num_actions);
  const auto found = std::lower_bound(names.begin(), end_of_actions, name);
  if (found == end_of_actions || *found != name) return unknown();
  return SymbolId{static_cast<std::uint32_t>(found - names.begin())};
}

SymbolId Alphabet::translate(const Alphabet& other, SymbolId symbol) const {
  if (!is_meta()) return symbol;
  const auto index = static_cast<std::size_t>(symbol);
  if (index < other.num_actions) return action(other.names[index]);
  if (index < other.num_actions + other.num_slots) return slot(index - other.num_actions);
  return symbol == other.end ? end : unknown();
}

std::string Alphabet::text(SymbolId symbol) const {
  const auto index = static_cast<std::size_t>(symbol);
  return is_meta() && index < names.size() ? names[index] : str_cat("token ", index);
}

bool is_consistent(const Alphabet& alphabet) {
  const std::size_t size = alphabet.size;
  if (static_cast<std::size_t>(alphabet.end) >= size) return false;
  if (!alphabet.is_meta()) return alphabet.num_actions == 0 && alphabet.num_slots == 0;
  const auto nameless = [](const std::string& name) { return name.empty(); };
  if (std::any_of(alphabet.names.begin(), alphabet.names.end(), nameless)) return false;
  // Not added up: a sum might overflow.
  return alphabet.names.size() == size && size >= 2 && alphabet.num_actions <= size - 2 &&
         alphabet.num_slots == size - 2 - alphabet.num_actions;
}

void Hmm::Data::check(const std::string& where) const {
  const std::size_t symbols = alphabet.size;
  if (hidden == 0 || symbols == 0) {
    throw InputError(where, "has no hidden state or no symbol", "give at least one of each");
  }
  if (!is_consistent(alphabet)) {
    throw InputError(where, "has an alphabet that does not fit its size", "train it anew");
  }
  if (initial.size() != hidden || transition.size() != hidden * hidden || emission.size() != symbols * hidden) {
    throw InputError(where,
                     str_cat("has parameters that do not fit ", hidden, " hidden states and ", symbols, " symbols"),
                     "give initial, transition (hidden x hidden) and emission (symbols x hidden)");
  }
  const auto fail = [&](const std::string& what) {
    throw InputError(where, str_cat(what, " is not a probability distribution"),
                     "its numbers must be at least 0 and sum to 1");
  };
  const auto probability = [](float value) { return value >= 0 && value <= 1 + static_cast<float>(kTolerance); };
  if (!std::all_of(initial.begin(), initial.end(), probability)) fail("the initial distribution");
  double sum = 0;
  for (const float value : initial) sum += value;
  if (std::abs(sum - 1) > kTolerance) fail("the initial distribution");
  for (std::size_t from = 0; from < hidden; ++from) {
    sum = 0;
    for (std::size_t to = 0; to < hidden; ++to) {
      const float value = transition[from * hidden + to];
      if (!probability(value)) fail(str_cat("the transition from state ", from));
      sum += value;
    }
    if (std::abs(sum - 1) > kTolerance) fail(str_cat("the transition from state ", from));
  }
  std::vector<double> sums(hidden);
  for (std::size_t symbol = 0; symbol < symbols; ++symbol) {
    for (std::size_t state = 0; state < hidden; ++state) {
      const float value = emission[symbol * hidden + state];
      if (!probability(value)) fail(str_cat("the emission of state ", state));
      sums[state] += value;
    }
  }
  for (std::size_t state = 0; state < hidden; ++state) {
    if (std::abs(sums[state] - 1) > kTolerance) fail(str_cat("the emission of state ", state));
  }
}

Hmm::Hmm(Alphabet alphabet, std::size_t hidden, std::vector<float> initial, std::vector<float> transition,
         std::vector<float> emission, std::string made_by) {
  auto parameters =
      std::make_shared<const Parameters>(Parameters{std::move(initial), std::move(transition), std::move(emission)});
  auto data = std::make_shared<Data>();
  data->alphabet = std::move(alphabet);
  data->hidden = hidden;
  data->made_by = std::move(made_by);
  data->initial = parameters->initial;
  data->transition = parameters->transition;
  data->emission = parameters->emission;
  data->owner = std::move(parameters);
  data->check("hidden Markov model");
  data_ = std::move(data);
}

Hmm Hmm::uniform(Alphabet alphabet, std::size_t hidden) {
  const std::size_t symbols = alphabet.size;
  const auto alike = [](std::size_t numbers, std::size_t choices) {
    return std::vector<float>(numbers, 1.0F / static_cast<float>(choices));
  };
  return {std::move(alphabet),
          hidden,
          alike(hidden, hidden),
          alike(hidden * hidden, hidden),
          alike(hidden * symbols, symbols),
          "uniform"};
}

Hmm Hmm::random(Alphabet alphabet, std::size_t hidden, std::uint64_t seed) {
  const std::size_t symbols = alphabet.size;
  internal::Random random(seed);
  // Rows of exponential variables are uniform on the simplex; the floor keeps training from losing a state at once.
  const auto draw = [&] { return 0.05 - std::log1p(-random.uniform()); };
  const auto fill = [&](std::vector<float>& out, std::size_t rows, std::size_t columns, std::size_t row_stride,
                        std::size_t column_stride) {
    out.resize(rows * columns);
    std::vector<double> row(columns);
    for (std::size_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (double& value : row) sum += value = draw();
      for (std::size_t c = 0; c < columns; ++c) {
        out[r * row_stride + c * column_stride] = static_cast<float>(row[c] / sum);
      }
    }
  };
  std::vector<float> initial;
  std::vector<float> transition;
  std::vector<float> emission;
  fill(initial, 1, hidden, hidden, 1);
  fill(transition, hidden, hidden, hidden, 1);
  fill(emission, hidden, symbols, 1, hidden);
  return {std::move(alphabet),           hidden, std::move(initial), std::move(transition), std::move(emission),
          str_cat("random, seed ", seed)};
}

const Alphabet& Hmm::alphabet() const { return data_->alphabet; }
std::size_t Hmm::num_hidden() const { return data_->hidden; }
const std::string& Hmm::made_by() const { return data_->made_by; }
std::uint64_t Hmm::step() const { return data_->step; }
std::span<const float> Hmm::initial() const { return data_->initial; }
std::span<const float> Hmm::transition() const { return data_->transition; }
std::span<const float> Hmm::emission() const { return data_->emission; }

Hmm Hmm::with_step(std::uint64_t step) const {
  auto data = std::make_shared<Data>(*data_);
  data->step = step;
  return Hmm(std::shared_ptr<const Data>(std::move(data)));
}

double Hmm::log_likelihood(std::span<const SymbolId> sequence) const {
  const std::size_t hidden = num_hidden();
  const std::span<const float> moves = transition();
  std::vector<double> forward(initial().begin(), initial().end());
  std::vector<double> next(hidden);
  double result = 0;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    if (static_cast<std::size_t>(sequence[t]) >= num_symbols()) return -std::numeric_limits<double>::infinity();
    const std::span<const float> emitted = emission(sequence[t]);
    double sum = 0;
    for (std::size_t z = 0; z < hidden; ++z) sum += forward[z] *= emitted[z];
    if (!(sum > 0)) return -std::numeric_limits<double>::infinity();
    result += std::log(sum);
    if (t + 1 == sequence.size()) break;
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t z = 0; z < hidden; ++z) {
      const double share = forward[z] / sum;
      if (share == 0) continue;
      for (std::size_t to = 0; to < hidden; ++to) next[to] += share * moves[z * hidden + to];
    }
    forward.swap(next);
  }
  return result;
}

}  // namespace metactrl
