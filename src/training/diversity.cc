// Equal plans are counted in ordered maps: over all prompts, and for each prompt. The entropy of counts n_i with the sum n
// is log n - (sum of n_i log n_i) / n, the maximum-likelihood estimate, which is too low where nearly all plans differ.
#include "training/diversity.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace metactrl::training {

namespace {

using Sequence = std::vector<SymbolId>;
using Counts = std::map<Sequence, std::size_t>;

double entropy_of(const Counts& counts) {
  double sum = 0;
  double terms = 0;
  for (const auto& [sequence, count] : counts) {
    const auto n = static_cast<double>(count);
    sum += n;
    terms += n * std::log(n);
  }
  return sum > 0 ? std::max(0.0, std::log(sum) - terms / sum) : 0;
}

// The actions of all alphabets, by name, and as many slots as the largest has.
Alphabet common_alphabet(const std::vector<NamedCorpus>& corpora) {
  std::set<std::string> names;
  std::size_t slots = 0;
  for (const NamedCorpus& named : corpora) {
    const Alphabet& meta = named.corpus.header.meta;
    names.insert(meta.names.begin(), meta.names.begin() + static_cast<std::ptrdiff_t>(meta.num_actions));
    slots = std::max(slots, meta.num_slots);
  }
  return Alphabet::meta({names.begin(), names.end()}, slots);
}

// What was written for one prompt.
struct PromptCounts {
  Counts plans;
  std::set<Sequence> texts;
};

class DiversityCounter {
 public:
  explicit DiversityCounter(const std::vector<NamedCorpus>& corpora)
      : corpora_(corpora), alphabet_(common_alphabet(corpora)), actions_(alphabet_.num_actions) {
    for (std::size_t i = 0; i < alphabet_.num_actions; ++i) actions_[i].name = alphabet_.names[i];
  }

  Diversity run() {
    for (std::size_t i = 0; i < corpora_.size(); ++i) {
      for (const CorpusRecord& record : corpora_[i].corpus.records) {
        ++result_.generations;
        if (record.parsed) add(i, record);
      }
    }
    result_.distinct_plans = plans_.size();
    result_.distinct_texts = texts_.size();
    result_.entropy = entropy_of(plans_);
    result_.prompts = prompts_.size();
    for (const auto& [prompt, counts] : prompts_) {
      const double share = 1.0 / static_cast<double>(prompts_.size());
      result_.distinct_plans_per_prompt += share * static_cast<double>(counts.plans.size());
      result_.distinct_texts_per_prompt += share * static_cast<double>(counts.texts.size());
      result_.entropy_per_prompt += share * entropy_of(counts.plans);
    }
    for (const std::size_t part : {8, 4, 2, 1}) {
      const std::size_t plans = result_.plans / part;
      if (plans > 0) result_.growth.push_back({plans, distinct_after_[plans - 1]});
    }
    std::sort(actions_.begin(), actions_.end(), [](const Diversity::Action& a, const Diversity::Action& b) {
      return a.times != b.times ? a.times > b.times : a.name < b.name;
    });
    result_.by_frequency = std::move(actions_);
    return std::move(result_);
  }

 private:
  void add(std::size_t corpus, const CorpusRecord& record) {
    const Alphabet& own = corpora_[corpus].corpus.header.meta;
    Sequence symbols;
    std::set<std::size_t> seen;
    for (const SymbolId symbol : record.symbols) {
      symbols.push_back(alphabet_.translate(own, symbol));
      const auto index = static_cast<std::size_t>(symbols.back());
      if (index >= actions_.size()) continue;
      ++actions_[index].times;
      if (seen.insert(index).second) ++actions_[index].plans;
    }
    ++result_.plans;
    result_.actions += record.actions;
    result_.tokens += record.tokens.size();
    PromptCounts& prompt = prompts_[{corpus, record.prompt}];
    ++prompt.plans[symbols];
    prompt.texts.insert(record.tokens);
    texts_.insert(record.tokens);
    ++plans_[std::move(symbols)];
    distinct_after_.push_back(plans_.size());
  }

  const std::vector<NamedCorpus>& corpora_;
  const Alphabet alphabet_;
  std::vector<Diversity::Action> actions_;
  Counts plans_;
  std::set<Sequence> texts_;
  std::map<std::pair<std::size_t, std::uint64_t>, PromptCounts> prompts_;
  std::vector<std::size_t> distinct_after_;  // each plan
  Diversity result_;
};

}  // namespace

Diversity diversity(const std::vector<NamedCorpus>& corpora) { return DiversityCounter(corpora).run(); }

std::string plain_action_name(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_') plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

std::vector<NeededAction> coverage(const Diversity& found, const std::vector<std::string>& needed) {
  std::map<std::string, std::size_t> times;
  std::size_t actions = 0;
  for (const Diversity::Action& action : found.by_frequency) {
    times[plain_action_name(action.name)] += action.times;
    actions += action.times;
  }
  std::set<std::string> names;
  for (const std::string& name : needed) names.insert(plain_action_name(name));
  std::vector<NeededAction> result;
  for (const std::string& name : names) {
    const auto there = times.find(name);
    const std::size_t count = there == times.end() ? 0 : there->second;
    result.push_back({name, count, actions == 0 ? 0 : static_cast<double>(count) / static_cast<double>(actions)});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const NeededAction& a, const NeededAction& b) { return a.times < b.times; });
  return result;
}

}  // namespace metactrl::training
