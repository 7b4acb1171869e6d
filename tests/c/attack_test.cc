// Attacks the guarantee through metactrl/c.h: plans by an engine that is wrong in every way an engine can be, each judged by
// its text alone.
//
//     c_attack_test --plans 20000
//     c_attack_test --plans 1000000 --seed 3 --seconds 300 --report c     # as many as there is time for; writes c.json
//
// The engine keeps its own tokens. At every step it asks what may come in one of five ways and picks by hostile logits (NaN,
// infinities, all mass on tokens that were not offered); now and then it offers tokens that may not come, seeks where nothing
// can be and back again, rolls back, goes on with a fork, or hands the row to a batch; and where a decoder of an earlier
// plan is there, it makes half of those that follow, sent back to its beginning. Succeeds when as many plans as asked for
// were made (or the time is over), none breaks anything, tokens that were not offered were tried and refused, no memory is held that was not held
// before, an attack that is repeated is answered alike, and when the same engine held to the form alone mostly fails: an
// attack that cannot fail proves nothing.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "attack/arsenal.h"
#include "attack/campaign.h"
#include "attack/judge.h"
#include "attack/report.h"
#include "attack/tasks.h"
#include "c/hand_over.h"
#include "metactrl/c.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/hmm.h"
#include "support/random.h"
#include "support/sanitized.h"
#include "support/test_data.h"

namespace metactrl::c_attack_test {
namespace {

using attack::CampaignOptions;
using testing::Random;

constexpr const char* kContext = "Plan:\n";

// What ranks the tokens; none of it may matter.
struct Ranking {
  bool trained = false;                     // the constraint has a model of plans
  const metactrl_hmm* token_hmm = nullptr;  // where it is no use, null
};

struct Counts {
  std::size_t plans = 0;
  std::size_t trained = 0;      // of them by a model of plans
  std::size_t with_tokens = 0;  // of them by one of tokens
  std::size_t again = 0;        // of them with a decoder of an earlier plan
  std::size_t refused = 0;      // tokens that were not offered
  std::size_t lost = 0;         // seeks to nowhere
  std::size_t unguided = 0;
  std::size_t unguided_invalid = 0;
  attack::Report report;
};

// Decoders that have made their plan, by guidance, bridge and whether they have a model of tokens.
using Slots = std::map<std::tuple<std::int32_t, std::int32_t, bool>, Owned<metactrl_decoder>>;

// One plan, as an engine would make it that trusts nobody and should not be trusted.
class Engine {
 public:
  Engine(metactrl_constraint* constraint, const Vocabulary& vocabulary, metactrl_pool* pool, std::uint64_t seed,
         bool guided, const Ranking& ranking, Slots& slots, Counts& counts)
      : size_(vocabulary.size()),
        pool_(pool),
        random_(seed),
        slots_(slots),
        counts_(counts),
        decoder_(nullptr, metactrl_decoder_free) {
    metactrl_decoder_options options;
    metactrl_decoder_options_default(&options);
    const int weighed = ranking.trained ? METACTRL_GUIDANCE_TRAINED : METACTRL_GUIDANCE_UNIFORM;
    options.guidance = random_.chance(50) ? METACTRL_GUIDANCE_MASK : weighed;
    if (!guided) options.guidance = METACTRL_GUIDANCE_SYNTAX;
    options.candidate_work = 10'000'000;  // large tasks use it up
    options.bridge = random_.chance(50) ? METACTRL_BRIDGE_UNIFORM : METACTRL_BRIDGE_SURROGATE;
    if (ranking.token_hmm != nullptr && random_.chance(50)) {
      options.bridge = METACTRL_BRIDGE_HMM;
      options.token_hmm = ranking.token_hmm;
    }
    counts.trained += options.guidance == METACTRL_GUIDANCE_TRAINED ? 1 : 0;
    counts.with_tokens += options.token_hmm != nullptr ? 1 : 0;
    slot_ = {options.guidance, options.bridge, options.token_hmm != nullptr};
    guidance_ = options.guidance == METACTRL_GUIDANCE_MASK      ? "C: mask"
                : options.guidance == METACTRL_GUIDANCE_UNIFORM ? "C: uniform"
                                                                : "C: trained";
    if (options.token_hmm != nullptr) guidance_ += "/hmm";
    if (options.bridge == METACTRL_BRIDGE_SURROGATE) guidance_ += "/surrogate";
    const auto slot = slots_.find(slot_);
    if (random_.chance(50) && slot != slots_.end()) {
      decoder_ = std::move(slot->second);
      slots_.erase(slot);
      call(metactrl_decoder_rollback, decoder_.get(), static_cast<std::size_t>(-1));
      ++counts.again;
    } else {
      metactrl_decoder* made = nullptr;
      call(metactrl_decoder_new, constraint, &options, nullptr, &made);
      decoder_.reset(made);
    }
    malice_ = random_.below(6);
  }

  // As the report says it.
  const std::string& guidance() const { return guidance_; }

  std::vector<std::int32_t> run(std::size_t max_tokens) {
    // Taking back makes plans longer, so it ends some time.
    for (std::size_t step = 0; (metactrl_decoder_status(decoder_.get()) & METACTRL_FINISHED) == 0; ++step) {
      if (tokens_.size() > max_tokens) throw std::runtime_error("an answer is longer than the longest");
      if (step < 4 * max_tokens) disturb();
      if (!forced_run()) take_one(pick());
    }
    slots_.insert_or_assign(slot_, std::move(decoder_));
    return tokens_;
  }

 private:
  void fill_logits() {
    logits_.resize(size_);
    for (float& logit : logits_) {
      switch (malice_ == 5 ? random_.below(5) : malice_) {
        case 0:
          logit = static_cast<float>(random_.below(2000)) / 100 - 10;
          break;
        case 1:
          logit = std::numeric_limits<float>::quiet_NaN();
          break;
        case 2:
          logit = std::numeric_limits<float>::infinity();
          break;
        case 3:
          logit = -std::numeric_limits<float>::infinity();
          break;
        default:
          logit = random_.chance(50) ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
      }
    }
  }

  std::vector<std::int32_t> next() {
    std::size_t count = 0;
    call(metactrl_decoder_next, decoder_.get(), static_cast<std::int32_t*>(nullptr), static_cast<float*>(nullptr),
         std::size_t{0}, &count);
    std::vector<std::int32_t> ids(count);
    std::vector<float> weights(count);
    call(metactrl_decoder_next, decoder_.get(), ids.data(), weights.data(), ids.size(), &count);
    for (const float weight : weights) {
      if (!std::isfinite(weight)) throw std::runtime_error("a weight is not finite");
    }
    if (ids.empty()) throw std::runtime_error("nothing may come although the plan is not finished");
    return ids;
  }

  std::int32_t pick() {
    fill_logits();
    const std::vector<std::int32_t> ids = next();
    switch (random_.below(5)) {
      case 0:
        return ids[random_.below(ids.size())];
      case 1: {
        std::int32_t token = -1;
        call(metactrl_decoder_choose, decoder_.get(), logits_.data(), logits_.size(), random_.chance(50) ? 0.0 : 1.5,
             random_.chance(50) ? 1.0 : 0.9, random_.below(1000), &token);
        return token;
      }
      case 2: {
        std::vector<std::int32_t> words((size_ + 31) / 32, -1);
        call(metactrl_decoder_fill_bitmask, decoder_.get(), words.data(), words.size());
        return first_of(
            ids, [&](std::size_t id) { return ((static_cast<std::uint32_t>(words[id / 32]) >> (id % 32)) & 1U) != 0; });
      }
      case 3: {
        std::vector<float> row(size_, 1);
        call(metactrl_decoder_fill_bias, decoder_.get(), row.data(), row.size());
        return first_of(ids, [&](std::size_t id) { return std::isfinite(row[id]); });
      }
      default:
        return from_batch(ids);
    }
  }

  // A token of those that `allowed` says may come; it must say so of exactly `ids`.
  template <typename Allowed>
  std::int32_t first_of(const std::vector<std::int32_t>& ids, const Allowed& allowed) {
    std::vector<std::int32_t> found;
    for (std::size_t id = 0; id < size_; ++id) {
      if (allowed(id)) found.push_back(static_cast<std::int32_t>(id));
    }
    if (found != ids) throw std::runtime_error("two ways to ask what may come do not agree");
    return found[random_.below(found.size())];
  }

  // In a batch with its forks, which are sent elsewhere.
  std::int32_t from_batch(const std::vector<std::int32_t>& ids) {
    std::vector<Owned<metactrl_decoder>> forks;
    std::vector<metactrl_decoder*> rows{decoder_.get()};
    std::vector<std::int32_t> tokens{-1};
    for (int i = 0; i < 9; ++i) {
      metactrl_decoder* fork = nullptr;
      call(metactrl_decoder_clone, decoder_.get(), &fork);
      forks.emplace_back(fork, metactrl_decoder_free);
      rows.push_back(fork);
      tokens.push_back(static_cast<std::int32_t>(random_.below(size_)));
    }
    std::vector<std::int32_t> words(rows.size() * ((size_ + 31) / 32));
    std::vector<std::int32_t> counts(rows.size());
    call(metactrl_batch_fill_bitmask, pool_, rows.data(), rows.size(), tokens.data(), 0U, words.data(),
         (size_ + 31) / 32, counts.data());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const bool offered = std::find(ids.begin(), ids.end(), tokens[i]) != ids.end();
      const bool lost = (metactrl_decoder_status(rows[i]) & METACTRL_LOST) != 0;
      if (lost == offered || (lost && counts[i] != 0)) throw std::runtime_error("a batch takes what is not offered");
      counts_.refused += offered ? 0 : 1;
    }
    move_forks(rows);
    return first_of(
        ids, [&](std::size_t id) { return ((static_cast<std::uint32_t>(words[id / 32]) >> (id % 32)) & 1U) != 0; });
  }

  // Back to some place and on to where the row is, or to a place that none has, or behind what may not come.
  void move_forks(const std::vector<metactrl_decoder*>& rows) {
    std::vector<std::uint64_t> keep;
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::int32_t> given;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      keep.push_back(i == 0 ? tokens_.size() : random_.below(tokens_.size() + 3));
      if (keep[i] <= tokens_.size())
        given.insert(given.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(keep[i]), tokens_.end());
      if (i % 4 == 3) given.push_back(static_cast<std::int32_t>(size_) + 7);
      offsets.push_back(given.size());
    }
    std::vector<std::int64_t> reached(rows.size());
    call(metactrl_batch_move, pool_, rows.data(), rows.size(), static_cast<const std::uint64_t*>(keep.data()),
         static_cast<const std::int32_t*>(given.data()), static_cast<const std::uint64_t*>(offsets.data()),
         reached.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool lost = (metactrl_decoder_status(rows[i]) & METACTRL_LOST) != 0;
      const bool there = reached[i] == static_cast<std::int64_t>(keep[i] + offsets[i + 1] - offsets[i]);
      const bool wanted = keep[i] <= tokens_.size() && i % 4 != 3;
      if (lost == there || (wanted && !there) || (i % 4 == 3 && there)) {
        throw std::runtime_error("a batch is not where it was sent");
      }
      counts_.refused += lost ? 1 : 0;
    }
  }

  bool forced_run() {
    if (random_.chance(50)) return false;
    std::size_t count = 0;
    std::vector<std::int32_t> run(4096);
    call(metactrl_decoder_forced, decoder_.get(), run.data(), run.size(), &count);
    if (count == 0) return false;
    run.resize(std::min(run.size(), count));
    std::size_t taken = 0;
    call(metactrl_decoder_accept, decoder_.get(), static_cast<const std::int32_t*>(run.data()), run.size(), &taken);
    if (taken != run.size()) throw std::runtime_error("a forced run is not taken");
    tokens_.insert(tokens_.end(), run.begin(), run.end());
    return true;
  }

  void take_one(std::int32_t token) {
    std::size_t taken = 0;
    call(metactrl_decoder_accept, decoder_.get(), static_cast<const std::int32_t*>(&token), std::size_t{1}, &taken);
    if (taken != 1) throw std::runtime_error("a token that was offered is not taken");
    tokens_.push_back(token);
  }

  void disturb() {
    switch (random_.below(8)) {
      case 0:
        offer_garbage();
        break;
      case 1:
        seek_nowhere();
        break;
      case 2: {
        const std::size_t back = random_.below(4);
        call(metactrl_decoder_rollback, decoder_.get(), back);
        tokens_.resize(tokens_.size() - std::min(tokens_.size(), back));
        break;
      }
      case 3: {
        metactrl_decoder* fork = nullptr;
        call(metactrl_decoder_clone, decoder_.get(), &fork);
        decoder_.reset(fork);
        break;
      }
      default:
        break;
    }
  }

  void offer_garbage() {
    const std::vector<std::int32_t> ids = next();
    for (const std::int32_t token : {static_cast<std::int32_t>(random_.below(size_)), -1, INT32_MIN, INT32_MAX,
                                     static_cast<std::int32_t>(size_)}) {
      if (std::find(ids.begin(), ids.end(), token) != ids.end()) continue;
      std::size_t taken = 0;
      call(metactrl_decoder_accept, decoder_.get(), &token, std::size_t{1}, &taken);
      if (taken != 0) throw std::runtime_error(str_cat("token ", token, " was not offered, and was taken"));
      ++counts_.refused;
    }
    if (next() != ids) throw std::runtime_error("what was refused left a trace");
  }

  void seek_nowhere() {
    std::vector<std::int32_t> garbage(tokens_.begin(),
                                      tokens_.begin() + static_cast<std::ptrdiff_t>(random_.below(tokens_.size() + 1)));
    garbage.push_back(static_cast<std::int32_t>(size_ + random_.below(100)));
    std::size_t taken = 0;
    call(metactrl_decoder_seek, decoder_.get(), static_cast<const std::int32_t*>(garbage.data()), garbage.size(),
         &taken);
    std::size_t count = 1;
    call(metactrl_decoder_next, decoder_.get(), static_cast<std::int32_t*>(nullptr), static_cast<float*>(nullptr),
         std::size_t{0}, &count);
    if (taken >= garbage.size() || count != 0) throw std::runtime_error("a decoder that is lost goes on");
    call(metactrl_decoder_seek, decoder_.get(), static_cast<const std::int32_t*>(tokens_.data()), tokens_.size(),
         &taken);
    if (taken != tokens_.size()) throw std::runtime_error("a decoder does not find back");
    ++counts_.lost;
  }

  std::size_t size_;
  metactrl_pool* pool_;
  Random random_;
  Slots& slots_;
  Slots::key_type slot_;
  std::string guidance_;
  Counts& counts_;
  Owned<metactrl_decoder> decoder_;
  std::uint32_t malice_ = 0;
  std::vector<std::int32_t> tokens_;
  std::vector<float> logits_;
};

// What can be attacked.
struct Place {
  attack::TaskFiles files;
  std::string format;
  std::uint64_t number = 0;  // of all
};

// A task in one format and vocabulary.
class Target {
 public:
  Target(const Place& place, metactrl_pool* pool, Counts& counts)
      : files_(place.files),
        format_(place.format),
        pool_(pool),
        counts_(counts),
        task_(load_pddl(files_.domain, files_.problem)),
        spelling_(PlanFormat::builtin(format_), task_),
        judge_(files_, ""),
        constraint_(nullptr, metactrl_constraint_free),
        token_hmm_(nullptr, metactrl_hmm_free) {
    for (unsigned tameness = 0; tameness <= 2 && constraint_ == nullptr; ++tameness) compile(place.number, tameness);
  }

  bool solvable() const {
    return constraint_ != nullptr && metactrl_constraint_verdict(constraint_.get()) == METACTRL_SOLVABLE;
  }

  // The answer; none where something was wrong.
  std::vector<std::int32_t> attack(std::uint64_t seed) {
    std::vector<std::int32_t> answer;
    attack::Tally tally;
    tally.plans = 1;
    std::string guidance = "C";
    try {
      Engine engine = make_engine(seed, true);
      guidance = engine.guidance();
      answer = engine.run(metactrl_constraint_max_tokens(constraint_.get()));
      tally.actions = judge(answer);
      tally.tokens = answer.size();
      tally.faults[static_cast<std::size_t>(attack::Fault::kNone)] = 1;
    } catch (const std::exception& error) {
      tally.faults[static_cast<std::size_t>(attack::Fault::kException)] = 1;
      accuse(seed, error.what());
    }
    ++counts_.plans;
    counts_.report.add(files_.family, {guidance, "engine"}, "an engine", format_, "small, made for the task", tally);
    return answer;
  }

  // The same plan once more.
  bool repeats(std::uint64_t seed, const std::vector<std::int32_t>& answer) {
    try {
      return make_engine(seed, true).run(metactrl_constraint_max_tokens(constraint_.get())) == answer;
    } catch (const std::exception&) {
      return false;
    }
  }

  void drop_decoders() { slots_.clear(); }

  void accuse(std::uint64_t seed, const std::string& what) {
    counts_.report.add_violation(
        {str_cat(files_.name(), ", ", format_, ", plan ", seed), {attack::Fault::kException, what, 0}});
  }

  // Held to the form alone; most of what it writes should not pass.
  void control(std::uint64_t seed) {
    ++counts_.unguided;
    const std::vector<std::int32_t> answer =
        make_engine(seed, false).run(metactrl_constraint_max_tokens(constraint_.get()));
    counts_.unguided_invalid += check(answer).starts_with("{\"valid\":true,") ? 0 : 1;
  }

 private:
  Engine make_engine(std::uint64_t seed, bool guided) {
    return {constraint_.get(), *vocabulary_, pool_, seed, guided, {trained_, token_hmm_.get()}, slots_, counts_};
  }

  std::string check(const std::vector<std::int32_t>& tokens) const {
    metactrl_text* checked = nullptr;
    call(metactrl_constraint_check, constraint_.get(), tokens.data(), tokens.size(),
         static_cast<metactrl_stop*>(nullptr), &checked);
    return take(checked);
  }

  // A vocabulary whose encoding cannot be cut between actions is refused; a tamer one is not.
  void compile(std::uint64_t seed, unsigned tameness) {
    vocabulary_ = attack::Arsenal::table(spelling_, seed, tameness);
    const Owned<metactrl_vocabulary> vocabulary = hand_over(*vocabulary_);
    metactrl_task* task = nullptr;
    call(metactrl_task_load, files_.domain.c_str(), files_.problem.c_str(),
         static_cast<const metactrl_task_options*>(nullptr), static_cast<metactrl_stop*>(nullptr), &task);
    const Owned<metactrl_task> owned_task(task, metactrl_task_free);
    metactrl_format* format = nullptr;
    call(metactrl_format_builtin, format_.c_str(), &format);
    const Owned<metactrl_format> owned_format(format, metactrl_format_free);
    metactrl_constraint_options options;
    metactrl_constraint_options_default(&options);
    options.context = kContext;
    options.context_size = std::strlen(kContext);
    options.horizon = 14;
    options.slack = 4;
    options.tokenization = seed % 4 == 3 ? METACTRL_ANY_TOKENS : METACTRL_CANONICAL;
    options.exact_states = seed % 5 == 4 ? 0 : 20'000;
    options.search_states = 20'000;
    options.search_work = 20'000'000;  // the largest tasks are not searched for minutes
    // Shipped tasks are small: tables of all their states take milliseconds.
    const bool small = files_.family.starts_with("domains");
    trained_ = small && seed % 2 == 0;
    Owned<metactrl_hmm> hmm(nullptr, metactrl_hmm_free);
    if (trained_) {
      std::vector<std::string> names;
      for (std::uint32_t i = 0; i < task_.num_action_names(); ++i) names.push_back(task_.action_name(ActionNameId{i}));
      hmm = hand_over(Hmm::random(Alphabet::meta(names, 6), 4, seed));
      options.hmm = hmm.get();
    }
    if (small && options.tokenization == METACTRL_CANONICAL && seed % 3 == 0) {
      const auto end = static_cast<std::uint32_t>(vocabulary_->end_of_turn().front());
      token_hmm_ = hand_over(Hmm::random(Alphabet::tokens(vocabulary_->size(), end), 3, seed));
    }
    metactrl_constraint* made = nullptr;
    const metactrl_status status =
        metactrl_constraint_compile(task, format, vocabulary.get(), &options, nullptr, &made, nullptr);
    if (status == METACTRL_OK) constraint_.reset(made);
  }

  // The number of actions.
  std::size_t judge(const std::vector<std::int32_t>& tokens) {
    const std::string answer = check(tokens);
    if (!answer.starts_with("{\"valid\":true,")) throw std::runtime_error(answer);
    std::string text;
    for (const std::int32_t token : tokens) text += vocabulary_->bytes(TokenId{token});
    const PlanSpelling::Parsed parsed = spelling_.parse(text);
    if (!parsed.complete) throw std::runtime_error("no plan: " + text);
    std::vector<PlanStep> steps;
    for (const ActionId action : parsed.actions) steps.push_back(task_.step(action));
    const attack::Finding finding = judge_.judge_steps(steps);
    if (finding.fault != attack::Fault::kNone) {
      throw std::runtime_error(str_cat(attack::to_string(finding.fault), ": ", finding.detail));
    }
    return steps.size();
  }

  attack::TaskFiles files_;
  std::string format_;
  metactrl_pool* pool_;
  Counts& counts_;
  Task task_;
  PlanSpelling spelling_;
  attack::Judge judge_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  Owned<metactrl_constraint> constraint_;
  bool trained_ = false;
  Owned<metactrl_hmm> token_hmm_;
  Slots slots_;
};

// Every shipped task, and the first of each other domain that is there, in every format that can write it. A short run
// leaves out the many domains of numbers, durations and people's own files.
std::vector<Place> find_places(bool is_short) {
  std::vector<Place> places;
  std::map<std::string, int> of_family;
  std::uint64_t number = 0;
  for (const attack::TaskFiles& files : attack::find_tasks(testing::source_dir(), testing::data_dir()).tasks) {
    if (!files.family.starts_with("domains") && ++of_family[files.family] > 1) continue;
    if (is_short && (files.family.starts_with("pddl21") || files.family.starts_with("wild"))) continue;
    for (const std::string& format : PlanFormat::builtin_names()) {
      ++number;
      if (files.family.starts_with("domains") || number % 3 == 0) places.push_back({files, format, number});
    }
  }
  return places;
}

// Bytes that were asked for and not given back. What the allocator keeps to hand out again is noise.
std::size_t held() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}
constexpr std::size_t kNoise = std::size_t{2} << 20;
constexpr bool kHeldIsKnown = !METACTRL_SANITIZED;  // sanitizers have an allocator of their own

// MiB that the process has in memory.
double resident() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double present = 0;
  file >> all >> present;
  return present * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024 * 1024);
}

// One target after the other, each with its share of the plans: a thousand compiled constraints need gigabytes.
class Campaign {
 public:
  Campaign(CampaignOptions options, metactrl_pool* pool)
      : options_(std::move(options)), pool_(pool), seed_(options_.seed * 1'000'000'007) {}

  void run() {
    std::vector<Place> places = find_places(options_.plans < 10'000);
    const std::size_t share =
        std::clamp<std::size_t>(options_.plans / std::max<std::size_t>(1, places.size()), 5, kMostInARow);
    // Runs that end early begin with different tasks.
    if (!places.empty())
      std::rotate(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(options_.seed * 7'919 % places.size()),
                  places.end());
    for (Place& place : places) place.number += options_.seed;
    for (bool any = true; any && !over();) {
      const std::size_t before = targets_;
      for (std::size_t i = 0; i < places.size() && !over(); ++i) visit(places[i], share);
      any = targets_ > before;
    }
  }

  bool report() const {
    const std::size_t late = held();
    std::cout << counts_.plans << " plans of " << targets_ << " tasks in their formats, " << counts_.refused
              << " tokens refused, " << counts_.lost << " times lost, " << counts_.again
              << " with a decoder of an earlier plan, " << counts_.trained << " by a model of plans, "
              << counts_.with_tokens << " by one of tokens, " << counts_.report.violations().size()
              << " violations; held to the form " << counts_.unguided_invalid << " of " << counts_.unguided
              << " are not valid; held between tasks: " << early_ / 1024 << " KiB after a tenth of the plans, "
              << late / 1024 << " KiB at the end; at most " << growth_ / 1024
              << " KiB more after the plans of a task\n";
    const std::vector<attack::Violation>& violations = counts_.report.violations();
    for (std::size_t i = 0; i < violations.size() && i < 20; ++i)
      std::cout << violations[i].where << ": " << violations[i].finding.detail << '\n';
    if (!options_.report.empty()) {
      const std::string command = str_cat("c_attack_test --plans ", options_.plans, " --seed ", options_.seed);
      std::ofstream(options_.report + ".json") << counts_.report.json(command, effort());
    }
    const std::size_t made = counts_.plans;
    const bool attacked = (made >= options_.plans || out_of_time()) && made > 0 && counts_.refused > made &&
                          counts_.lost > made / 10 && 2 * counts_.unguided_invalid > counts_.unguided &&
                          counts_.trained > made / 100 && counts_.with_tokens > made / 200 && counts_.again > made / 50;
    return attacked && violations.empty() && (!kHeldIsKnown || late <= early_ + kNoise);
  }

 private:
  static constexpr std::size_t kMostInARow = 100;

  bool out_of_time() const {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start_;
    return options_.seconds > 0 && since.count() >= options_.seconds;
  }
  bool over() const { return counts_.plans >= options_.plans || out_of_time(); }
  // Seconds of one core.
  static double effort() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

  void visit(const Place& place, std::size_t share) {
    std::unique_ptr<Target> target;
    try {
      target = std::make_unique<Target>(place, pool_, counts_);
    } catch (const InputError&) {
      return;  // a format that splits names into a word and a number cannot write names without one
    }
    if (!target->solvable()) return;
    ++targets_;
    attack(*target, share);
    target.reset();
    if (targets_ == 1 || counts_.plans <= options_.plans / 10) early_ = std::max(early_, held());
    if (targets_ % 50 == 0) std::cout << counts_.plans << " plans, " << resident() << " MiB" << std::endl;
  }

  // The first plan once more at the end: what was decoded in between must not matter.
  void attack(Target& target, std::size_t share) {
    const std::uint64_t first = seed_ + 1;
    std::vector<std::int32_t> first_answer;
    std::size_t before = 0;
    for (std::size_t i = 0; i < share && !over(); ++i) {
      std::vector<std::int32_t> answer = target.attack(++seed_);
      if (seed_ == first) first_answer = std::move(answer);
      if (seed_ % 20 == 0) target.control(seed_);
      if (i <= share / 10) before = held_by(target);
    }
    if (!target.repeats(first, first_answer)) target.accuse(first, "another answer than before");
    const std::size_t after = held_by(target);
    growth_ = std::max(growth_, after - std::min(after, before));
    if (kHeldIsKnown && after > before + kNoise) target.accuse(seed_, str_cat("holds ", after - before, " bytes more"));
  }

  // Without the decoders that it keeps, of which some are large.
  static std::size_t held_by(Target& target) {
    target.drop_decoders();
    return held();
  }

  CampaignOptions options_;
  metactrl_pool* pool_;
  Counts counts_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::uint64_t seed_;  // of the last plan
  std::size_t targets_ = 0;
  std::size_t early_ = 0;   // held between targets, at most, in the first tenth of the plans
  std::size_t growth_ = 0;  // the most that the plans of one target added
};

CampaignOptions read_options(int count, char** arguments) {
  CampaignOptions options;
  options.plans = 2000;
  options.seed = 0;
  for (int i = 1; i < count; i += 2) {
    const std::string name = arguments[i];
    const std::string value = i + 1 < count ? arguments[i + 1] : "";
    if (!options.take(name, value))
      throw std::invalid_argument(str_cat("unknown option ", name, "; known: ", CampaignOptions::kNames));
  }
  return options;
}

bool run(const CampaignOptions& options) {
  metactrl_pool* made = nullptr;
  call(metactrl_pool_new, 2U, &made);
  const Owned<metactrl_pool> pool(made, metactrl_pool_free);
  Campaign campaign(options, pool.get());
  campaign.run();
  return campaign.report();
}

}  // namespace
}  // namespace metactrl::c_attack_test

int main(int count, char** arguments) {
  try {
    const metactrl::attack::CampaignOptions options = metactrl::c_attack_test::read_options(count, arguments);
    return metactrl::c_attack_test::run(options) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
