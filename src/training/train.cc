// The M-step and the order of the steps.
//
// Which sequences a step looks at follows from its number: the sequences are shuffled once per pass, by the seed and
// the number of the pass, and steps take them in that order, each where the last one stopped. So a training that is
// resumed behind step n goes on as if it had never stopped.
#include "metactrl/training/train.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <map>
#include <numeric>
#include <utility>

#include "metactrl/error.h"
#include "support/splitmix.h"
#include "support/str_cat.h"
#include "training/step_rules.h"

namespace metactrl {

using internal::str_cat;

// --- sequences -------------------------------------------------------------------------------------------------------

namespace {

std::uint64_t new_version() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

void SequenceSet::add(std::span<const SymbolId> sequence, double weight) {
  if (sequence.empty()) return;
  symbols_.insert(symbols_.end(), sequence.begin(), sequence.end());
  first_.push_back(symbols_.size());
  weights_.push_back(weight);
  version_ = new_version();
}

double SequenceSet::total_weight() const { return std::accumulate(weights_.begin(), weights_.end(), 0.0); }

double SequenceSet::total_symbols() const {
  double sum = 0;
  for (std::size_t i = 0; i < size(); ++i) sum += weights_[i] * static_cast<double>((*this)[i].size());
  return sum;
}

SequenceSet SequenceSet::distinct() const {
  const auto less = [](std::span<const SymbolId> a, std::span<const SymbolId> b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  };
  std::map<std::span<const SymbolId>, std::size_t, decltype(less)> known(less);
  SequenceSet result;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto [at, added] = known.try_emplace((*this)[i], result.size());
    if (added) {
      result.add((*this)[i], weights_[i]);
    } else {
      result.weights_[at->second] += weights_[i];
    }
  }
  result.version_ = new_version();
  return result;
}

// --- schedules -------------------------------------------------------------------------------------------------------

std::vector<TrainPhase> parse_schedule(std::string_view text) {
  constexpr std::size_t kMost = 1'000'000'000;  // of steps or sequences in a phase, so that sums stay numbers
  const auto fail = [&](std::string_view part) {
    throw InputError("schedule", str_cat("cannot read '", part, "'"),
                     "write steps,sequences;steps,sequences like \"10,1000;5,all\"");
  };
  const auto number = [&](std::string_view part) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value == 0 || value > kMost) fail(part);
    return value;
  };
  std::vector<TrainPhase> phases;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty()) continue;
    const std::size_t comma = part.find(',');
    if (comma == std::string_view::npos) fail(part);
    const std::string_view sequences = part.substr(comma + 1);
    phases.push_back({number(part.substr(0, comma)), sequences == "all" ? 0 : number(sequences)});
  }
  if (phases.empty()) fail("");
  return phases;
}

// --- the M-step ------------------------------------------------------------------------------------------------------

Hmm maximise(const Hmm& before, const ExpectedCounts& counts, const TrainOptions& options, std::uint64_t step) {
  const std::size_t hidden = before.num_hidden();
  const std::size_t symbols = before.num_symbols();
  const Alphabet& alphabet = before.alphabet();
  const auto end = static_cast<std::size_t>(alphabet.end);
  const double rate = training::step_size(options, step);
  std::vector<float> initial(hidden);
  std::vector<float> transition(hidden * hidden);
  std::vector<float> emission(symbols * hidden);
  // A row that nothing was counted for stays what it was.
  const auto normalise = [&](std::span<const double> row, std::span<const float> old, float* out) {
    double sum = 0;
    for (const double value : row) sum += value;
    sum += options.pseudocount;
    const double extra = options.pseudocount / static_cast<double>(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double fresh = sum > 0 ? (row[i] + extra) / sum : old[i];
      out[i] = static_cast<float>((1 - rate) * old[i] + rate * fresh);
    }
  };
  normalise(counts.initial, before.initial(), initial.data());
  for (std::size_t z = 0; z < hidden; ++z) {
    normalise({counts.transition.data() + z * hidden, hidden}, before.transition().subspan(z * hidden, hidden),
              transition.data() + z * hidden);
  }
  // Emissions lie by symbol, and models of tokens are large: symbol by symbol, all states at once. What was not read is
  // one of the other symbols but the end, as likely as the model makes them.
  const std::span<const float> old = before.emission();
  const auto value = [&](std::size_t v, std::size_t z) {
    const double readable = 1.0 - old[end * hidden + z];
    const bool unread = v != end && readable > 0;
    return counts.emission[v * hidden + z] + (unread ? counts.unread[z] * old[v * hidden + z] / readable : 0);
  };
  const auto is_slot = [&](std::size_t v) {
    return options.tie_slots && v >= alphabet.num_actions && v < alphabet.num_actions + alphabet.num_slots;
  };
  std::vector<double> sums(hidden);
  std::vector<double> slots(hidden);
  for (std::size_t v = 0; v < symbols; ++v) {
    for (std::size_t z = 0; z < hidden; ++z) {
      const double one = value(v, z);
      sums[z] += one;
      if (is_slot(v)) slots[z] += one;
    }
  }
  for (double& sum : sums) sum += options.pseudocount;
  for (double& sum : slots) sum /= std::max(1.0, static_cast<double>(alphabet.num_slots));
  const double extra = options.pseudocount / static_cast<double>(symbols);
  for (std::size_t v = 0; v < symbols; ++v) {
    for (std::size_t z = 0; z < hidden; ++z) {
      const std::size_t at = v * hidden + z;
      const double fresh = sums[z] > 0 ? ((is_slot(v) ? slots[z] : value(v, z)) + extra) / sums[z] : old[at];
      emission[at] = static_cast<float>((1 - rate) * old[at] + rate * fresh);
    }
  }
  return Hmm(alphabet, hidden, std::move(initial), std::move(transition), std::move(emission), before.made_by())
      .with_step(step + 1);
}

// --- training --------------------------------------------------------------------------------------------------------

namespace {

class HostModel : public ModelInTraining {
 public:
  HostModel(ExpectationEngine& engine, Hmm start, const TrainOptions& options)
      : engine_(engine), hmm_(std::move(start)), options_(options) {}

  ExpectedCounts step(const SequenceSet& sequences, std::span<const std::uint32_t> chosen,
                      const Dropout& dropout) override {
    const ExpectedCounts counts = engine_.expectation(hmm_, sequences, chosen, dropout);
    hmm_ = maximise(hmm_, counts, options_, hmm_.step());
    ExpectedCounts found(counts.hidden, 0);
    found.add(counts);
    return found;
  }
  const Hmm& hmm() override { return hmm_; }

 private:
  ExpectationEngine& engine_;
  Hmm hmm_;
  TrainOptions options_;
};

}  // namespace

std::unique_ptr<ModelInTraining> ExpectationEngine::begin(Hmm start, const TrainOptions& options) {
  return std::make_unique<HostModel>(*this, std::move(start), options);
}

Trainer::Trainer(Hmm start, const SequenceSet& sequences, ExpectationEngine& engine, const TrainOptions& options)
    : sequences_(sequences), options_(options), done_(start.step()), last_(0, 0) {
  if (sequences.size() == 0) throw InputError("training", "there are no sequences", "give a corpus that holds some");
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (const SymbolId symbol : sequences[i]) {
      if (static_cast<std::size_t>(symbol) < start.num_symbols()) continue;
      throw InputError("training",
                       str_cat("sequence ", i, " holds symbol ", static_cast<std::uint32_t>(symbol),
                               ", and the alphabet has ", start.num_symbols()),
                       "use the alphabet that the sequences were made with");
    }
  }
  for (const TrainPhase& phase : options_.schedule) total_ += phase.steps;
  model_ = engine.begin(std::move(start), options_);
}

// The sequences of the step at hand.
void Trainer::choose() {
  const std::size_t count = sequences_.size();
  std::uint64_t first = 0;  // sequences that the steps before this one took
  std::uint64_t at = 0;
  std::size_t wanted = count;
  for (const TrainPhase& phase : options_.schedule) {
    wanted = phase.sequences == 0 ? count : std::min(phase.sequences, count);
    const std::uint64_t steps = std::min<std::uint64_t>(phase.steps, done_ - at);
    first += steps * wanted;
    at += steps;
    if (steps < phase.steps) break;
  }
  chosen_.clear();
  if (wanted == count) {
    chosen_.resize(count);
    std::iota(chosen_.begin(), chosen_.end(), 0U);
    return;
  }
  for (std::uint64_t pass = first / count; chosen_.size() < wanted; ++pass) {
    if (order_.empty() || pass_ != pass) {
      order_.resize(count);
      std::iota(order_.begin(), order_.end(), 0U);
      internal::Random random(options_.seed ^ (pass + 1) * 0xd1b54a32d192ed03ULL);
      for (std::size_t i = count; i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
      pass_ = pass;
    }
    const std::size_t from = chosen_.empty() ? static_cast<std::size_t>(first % count) : 0;
    const std::size_t take = std::min(count - from, wanted - chosen_.size());
    chosen_.insert(chosen_.end(), order_.begin() + static_cast<std::ptrdiff_t>(from),
                   order_.begin() + static_cast<std::ptrdiff_t>(from + take));
  }
}

bool Trainer::step() {
  if (done_ >= total_) return false;
  if (options_.stop && options_.stop()) throw Stopped(Stopped::kCancelled);
  const Dropout dropout{options_.dropout, options_.seed ^ (done_ + 1) * 0xbf58476d1ce4e5b9ULL};
  choose();
  last_ = model_->step(sequences_, chosen_, dropout);
  ++done_;
  return true;
}

}  // namespace metactrl
