#include "training/corpora.h"

#include <algorithm>
#include <limits>
#include <set>

#include "metactrl/error.h"
#include "support/str_cat.h"

namespace metactrl::training {

namespace {

// One alphabet for all; nothing but the first's at the token level.
Alphabet join_alphabets(const std::vector<NamedCorpus>& corpora, CorpusLevel level) {
  if (level == CorpusLevel::kToken) {
    const Alphabet& first = corpora[0].corpus.header.tokens;
    for (const NamedCorpus& other : corpora) {
      if (other.corpus.header.tokens == first) continue;
      throw InputError(other.file, "was written by a model with another vocabulary than the first corpus",
                       "train one model of tokens for each");
    }
    return first;
  }
  std::set<std::string> names;
  std::size_t slots = 0;
  for (const NamedCorpus& one : corpora) {
    const Alphabet& own = one.corpus.header.meta;
    names.insert(own.names.begin(), own.names.begin() + static_cast<std::ptrdiff_t>(own.num_actions));
    slots = std::max(slots, own.num_slots);
  }
  return Alphabet::meta({names.begin(), names.end()}, slots);
}

// Of one plan of each family; a balanced corpus weighs `most` in all.
std::map<std::uint32_t, double> family_weights(const Corpus& corpus, double most, bool balance) {
  std::map<std::uint32_t, double> weights;
  for (const CorpusRecord& record : corpus.records) weights[record.family] += record.parsed ? 1 : 0;
  std::erase_if(weights, [](const auto& family) { return family.second == 0; });
  const double share = weights.empty() ? 0 : most / static_cast<double>(weights.size());
  for (auto& [family, weight] : weights) weight = balance ? share / weight : 1;
  return weights;
}

// A record in the symbols of another alphabet.
std::vector<SymbolId> translated(const CorpusRecord& record, const Corpus& corpus, CorpusLevel level,
                                 const Alphabet& alphabet) {
  std::vector<SymbolId> sequence = level == CorpusLevel::kMeta ? record.symbols : record.tokens;
  for (SymbolId& symbol : sequence) symbol = alphabet.translate(corpus.alphabet(level), symbol);
  return sequence;
}

}  // namespace

TrainingData join(const std::vector<NamedCorpus>& corpora, const JoinOptions& options) {
  TrainingData data;
  data.alphabet = join_alphabets(corpora, options.level);
  double most = 0;
  for (const NamedCorpus& one : corpora) {
    most = std::max(most, one.corpus.sequences(options.level).total_weight());
  }
  for (const auto& [file, corpus] : corpora) {
    const std::map<std::uint32_t, double> weights = family_weights(corpus, most, options.balance);
    const std::vector<bool> kept_back = metactrl::held_out(corpus, options.held_out);
    for (std::size_t i = 0; i < corpus.records.size(); ++i) {
      const CorpusRecord& record = corpus.records[i];
      if (!record.parsed) continue;
      (kept_back[i] ? data.held_out : data.training)
          .add(translated(record, corpus, options.level, data.alphabet), weights.at(record.family));
    }
  }
  data.training = data.training.distinct();
  data.held_out = data.held_out.distinct();
  return data;
}

void Fit::add(const Fit& other) {
  plans += other.plans;
  impossible += other.impossible;
  symbols += other.symbols;
  actions += other.actions;
  nats += other.nats;
}

CorpusLevel level_of(const Hmm& hmm) { return hmm.alphabet().is_meta() ? CorpusLevel::kMeta : CorpusLevel::kToken; }

std::map<std::uint32_t, Fit> fit(const Hmm& hmm, const NamedCorpus& named, std::uint64_t every) {
  const auto& [file, corpus] = named;
  const CorpusLevel level = level_of(hmm);
  const Alphabet& own = corpus.alphabet(level);
  const Alphabet& alphabet = hmm.alphabet();
  if (level == CorpusLevel::kToken && own.size != alphabet.size) {
    throw InputError(file, internal::str_cat("has ", own.size, " tokens, the model ", alphabet.size),
                     "score with a corpus that the same language model wrote");
  }
  const bool both_known = own.vocabulary != 0 && alphabet.vocabulary != 0;
  if (level == CorpusLevel::kToken && both_known && own.vocabulary != alphabet.vocabulary) {
    throw InputError(file, "was written in another vocabulary than the model of tokens knows",
                     "score with a corpus that the same language model wrote");
  }
  std::map<std::uint32_t, Fit> fits;
  std::map<std::vector<SymbolId>, double> known;
  const std::vector<bool> kept_back = metactrl::held_out(corpus, every);
  for (std::size_t i = 0; i < corpus.records.size(); ++i) {
    const CorpusRecord& record = corpus.records[i];
    if (!record.parsed || (every > 0 && !kept_back[i])) continue;
    std::vector<SymbolId> sequence = translated(record, corpus, level, alphabet);
    const auto [at, fresh] = known.try_emplace(sequence, 0);
    if (fresh) at->second = hmm.log_likelihood(sequence);
    Fit& found = fits[record.family];
    ++found.plans;
    if (at->second == -std::numeric_limits<double>::infinity()) {
      ++found.impossible;
      continue;
    }
    found.nats -= at->second;
    found.symbols += static_cast<double>(sequence.size());
    found.actions += record.actions;
  }
  return fits;
}

}  // namespace metactrl::training
