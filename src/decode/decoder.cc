// The decoder: a stack of boundaries (frames) and a stack of tokens (steps).
//
// At a boundary, between two actions, the lookahead says which actions may come next and what each is worth. Those are
// the live *paths*: entries of the token automaton, that is an action with a separator (go on) or with the closing
// (stop), in the automaton's lexicographic order. Inside an action a step is a sub-range of the live paths, the
// corresponding range of *all* entries, and a depth. The next tokens are the distinct tokens of the live range at that
// depth; the value of one is
//
//     sum over its live paths of  m(path) S(path)   /   sum over all entries with the same prefix of  m(entry)
//
// with m(action, what follows) = pi(action) p(what follows): pi is the bridge (before normalisation), and p gives the
// closing the surrogate's probability of the end, p_end, and shares the rest among the separators. S is 1 for stopping
// at the goal and V_go for going on. Where only the two kinds of one action are left this gives S(stop) and V_go
// themselves; before that, p_end S(stop) + (1 - p_end) V_go, which is the V of lookahead.h: the equation of decoder.h
// in each case. The denominators are sums over a range of entries: differences of counts that were summed up once
// (entry_mass.h).
//
// Taking back a token pops a step, and a frame when the token had completed an action. Nothing is recomputed.
#include "metactrl/decoder.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "decode/entry_mass.h"
#include "lookahead/uniform.h"

namespace metactrl {

namespace {

// What an action is worth at least when it is supported: floats rank, they never decide.
constexpr double kFloor = -1e4;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr std::uint32_t kClose = TokenAutomaton::kClose;

// log(e^a + e^b)
double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kMinusInfinity ? a : a + std::log1p(std::exp(b - a));
}

}  // namespace

const char* to_string(Guidance guidance) {
  switch (guidance) {
    case Guidance::kSyntax:
      return "syntax";
    case Guidance::kMask:
      return "mask";
    case Guidance::kUniform:
      return "uniform";
  }
  return "";
}

const char* to_string(Bridge bridge) {
  switch (bridge) {
    case Bridge::kUniform:
      return "uniform";
    case Bridge::kSurrogate:
      return "surrogate";
    case Bridge::kModel:
      return "model";
  }
  return "";
}

class Decoder::Impl {
 public:
  Impl(std::shared_ptr<const Constraint> constraint, const DecoderOptions& options)
      : constraint_(std::move(constraint)),
        automaton_(&constraint_->automaton()),
        options_(options),
        support_(constraint_->lookahead()),
        log_end_(-std::log(static_cast<double>(lookahead::alphabet_size(constraint_->task().program())))),
        log_go_(std::log1p(-std::exp(log_end_))),
        mass_(constraint_->entry_counts(), log_end_, log_go_, options.bridge == Bridge::kSurrogate) {
    if (options_.horizon == 0) options_.horizon = constraint_->lookahead()->horizon();
    frames_.emplace_back();
    frames_[0].state = constraint_->task().initial_state();
    frames_[0].group = automaton_->first_group();
    open_frame(options_.horizon, !constraint_->task().initially_violated());
    Step start;
    start.phase = Phase::kStart;
    start.opening = go_on_allowed_;
    start.empty = stop_allowed_ && !options_.forbid_empty;
    steps_.push_back(start);
    enter(steps_.back());
  }

  // A fork. Caches of the lookahead are not shared: they belong to one decoder.
  Impl(const Impl& other)
      : constraint_(other.constraint_),
        automaton_(other.automaton_),
        options_(other.options_),
        support_(constraint_->lookahead()),
        log_end_(other.log_end_),
        log_go_(other.log_go_),
        mass_(other.mass_),
        frames_(other.frames_),
        num_frames_(other.num_frames_),
        paths_(other.paths_),
        path_scores_(other.path_scores_),
        path_scores_frame_(other.path_scores_frame_),
        steps_(other.steps_),
        tokens_(other.tokens_),
        actions_(other.actions_),
        separators_(other.separators_),
        go_on_allowed_(other.go_on_allowed_),
        stop_allowed_(other.stop_allowed_) {}

  std::span<const NextToken> next() {
    next_.clear();
    const Step& step = steps_.back();
    switch (step.phase) {
      case Phase::kStart:
        next_at_start(step);
        break;
      case Phase::kHead:
        next_.push_back({automaton_->prefix(frame().index)[step.depth], frame().log_go_on});
        break;
      case Phase::kEntry:
        next_in_entry(step);
        break;
      case Phase::kEnd:
        for (TokenId token : automaton_->end_of_turn()) next_.push_back({token, 0});
        break;
      case Phase::kDone:
        break;
    }
    std::sort(next_.begin(), next_.end(), [](const NextToken& a, const NextToken& b) { return a.token < b.token; });
    return next_;
  }

  // Only as far as the end of the action: what comes behind it is for the lookahead to say, once it is reached.
  std::span<const TokenId> forced() {
    forced_.clear();
    const Step& step = steps_.back();
    if (step.phase == Phase::kEntry && !step.empty) {
      const bool all = frame().all;
      if (all ? step.all_begin == step.all_end : step.begin == step.end) return forced_;
      // The range is sorted: what its first and last member share, all share.
      const auto rank = [&](std::uint32_t i) { return all ? i : paths_[frame().first_path + i].rank; };
      const std::span<const TokenId> first = automaton_->tokens(rank(all ? step.all_begin : step.begin));
      const std::span<const TokenId> last = automaton_->tokens(rank((all ? step.all_end : step.end) - 1));
      for (std::size_t d = step.depth; d < first.size() && d < last.size() && first[d] == last[d]; ++d) {
        forced_.push_back(first[d]);
      }
      return forced_;
    }
    if (step.phase == Phase::kHead) {
      const std::span<const TokenId> head = automaton_->prefix(frame().index).subspan(step.depth);
      forced_.assign(head.begin(), head.end());
      return forced_;
    }
    if (step.phase == Phase::kStart && step.opening && !step.empty) {
      const std::span<const TokenId> opening = automaton_->opening().subspan(step.depth);
      forced_.assign(opening.begin(), opening.end());
      return forced_;
    }
    if (const std::span<const NextToken> choices = next(); choices.size() == 1) forced_.push_back(choices[0].token);
    return forced_;
  }

  bool accept(TokenId token) {
    const Step& current = steps_.back();
    Step step = current;
    bool taken = false;
    switch (current.phase) {
      case Phase::kStart:
        taken = accept_at_start(step, token);
        break;
      case Phase::kHead:
        taken = automaton_->prefix(frame().index)[step.depth] == token;
        ++step.depth;
        break;
      case Phase::kEntry:
        taken = accept_in_entry(step, token);
        break;
      case Phase::kEnd:
        taken = std::binary_search(automaton_->end_of_turn().begin(), automaton_->end_of_turn().end(), token);
        step.phase = Phase::kDone;
        break;
      case Phase::kDone:
        break;
    }
    if (!taken) return false;
    tokens_.push_back(token);
    enter(step);
    steps_.push_back(step);
    return true;
  }

  void rollback(std::size_t count) {
    count = std::min(count, tokens_.size());
    tokens_.resize(tokens_.size() - count);
    steps_.resize(steps_.size() - count);
    const Step& step = steps_.back();
    while (num_frames_ > step.frame + 1) --num_frames_;
    paths_.resize(frame().first_path + frame().num_paths);
    actions_.resize(step.num_actions);
    separators_.resize(std::min<std::size_t>(separators_.size(), step.num_separators));
    if (path_scores_frame_ >= num_frames_) path_scores_.clear();
  }

  bool finished() const { return steps_.back().phase == Phase::kDone; }
  std::size_t num_tokens() const { return tokens_.size(); }
  const std::vector<TokenId>& tokens() const { return tokens_; }
  const std::vector<ActionId>& actions() const { return actions_; }
  const std::vector<std::uint32_t>& separators() const { return separators_; }
  const State& state() const { return frame().state; }
  unsigned left() const { return frame().left; }
  bool at_boundary() const {
    const Step& step = steps_.back();
    return (step.phase == Phase::kEntry && step.depth == 0) || step.phase == Phase::kStart;
  }
  std::span<const Candidate> candidates() const { return frame().candidates; }

  // The entries first, in order; then the empty plan, once per end-of-turn token, where it is still possible.
  std::vector<std::vector<TokenId>> paths() const {
    std::vector<std::vector<TokenId>> result;
    const Step& step = steps_.back();
    if (!at_boundary() || frame().all) return result;
    const bool at_start = step.phase == Phase::kStart;
    for (std::size_t i = 0; i < frame().num_paths && (!at_start || step.opening); ++i) {
      std::vector<TokenId> path;
      if (at_start) {
        const std::span<const TokenId> opening = automaton_->opening().subspan(step.depth);
        path.assign(opening.begin(), opening.end());
      }
      const std::span<const TokenId> tokens = automaton_->tokens(paths_[frame().first_path + i].rank);
      path.insert(path.end(), tokens.begin(), tokens.end());
      result.push_back(std::move(path));
    }
    if (!step.empty) return result;
    for (TokenId end : automaton_->end_of_turn()) {
      const std::span<const TokenId> empty = automaton_->empty_plan().subspan(step.empty_depth);
      result.emplace_back(empty.begin(), empty.end());
      result.back().push_back(end);
    }
    return result;
  }

  // Keeps, for every entry and every token of it, the log-probability of what is left of it behind that token.
  void set_path_scores(const std::vector<std::vector<float>>& scores) {
    path_scores_.clear();
    if (!at_boundary() || scores.size() < frame().num_paths) return;
    for (std::size_t i = 0; i < frame().num_paths; ++i) {
      const std::size_t length = automaton_->tokens(paths_[frame().first_path + i].rank).size();
      if (scores[i].size() < length) {
        path_scores_.clear();
        return;
      }
      const std::size_t opening = scores[i].size() - length;
      std::vector<double> rest(length, 0.0);
      for (std::size_t j = length - 1; j-- > 0;) {
        const float score = scores[i][opening + j + 1];
        rest[j] = rest[j + 1] + (std::isnan(score) ? kFloor : std::max<double>(score, kFloor));
      }
      path_scores_.push_back(std::move(rest));
    }
    path_scores_frame_ = num_frames_ - 1;
  }

  const Constraint& constraint() const { return *constraint_; }
  const DecoderOptions& options() const { return options_; }

 private:
  enum class Phase : std::uint8_t {
    kStart,  // opening, or the empty plan
    kHead,   // the number in front of an entry
    kEntry,  // an action and what follows it
    kEnd,    // the end-of-turn token
    kDone,
  };

  // One way to go on from a boundary.
  struct Path {
    std::uint32_t rank = 0;
    double log_mass = 0;   // log m
    double log_value = 0;  // log S
  };

  struct Frame {
    State state;
    unsigned left = 0;
    std::uint32_t index = 1;  // number of the next action, from 1
    std::uint32_t group = 0;  // of the automaton's entries: where in the text the next one begins
    bool all = false;         // every entry is live: syntax only
    std::size_t first_path = 0;
    std::size_t num_paths = 0;
    double log_go_on = 0;  // log V_go of the state
    std::vector<Candidate> candidates;
  };

  struct Step {
    Phase phase = Phase::kStart;
    bool opening = false;  // kStart: the opening can still be meant
    bool empty = false;    // the empty plan can still be meant (also in the first kEntry)
    std::uint32_t frame = 0;
    std::uint32_t depth = 0;        // tokens read of the opening, the head or the entry
    std::uint32_t empty_depth = 0;  // tokens read of the empty plan
    std::uint32_t begin = 0;        // live paths, relative to the frame's first; unused when all are live
    std::uint32_t end = 0;
    std::uint32_t all_begin = 0;  // entries by rank
    std::uint32_t all_end = 0;
    std::uint32_t num_actions = 0;
    std::uint32_t num_separators = 0;
  };

  const Frame& frame() const { return frames_[num_frames_ - 1]; }

  // --- boundaries
  // -----------------------------------------------------------------------------------------------------

  // Makes frames_[num_frames_], whose state is set, the current boundary. `legal` is false only for an initial state
  // that breaks a constraint. The memory of a frame that was rolled back is used again.
  void open_frame(unsigned left, bool legal) {
    Frame& frame = frames_[num_frames_++];
    frame.left = left;
    frame.index = static_cast<std::uint32_t>(num_frames_);
    frame.all = false;
    frame.first_path = paths_.size();
    frame.log_go_on = 0;
    frame.candidates.clear();
    if (options_.guidance == Guidance::kSyntax) {
      open_all(frame);
    } else if (legal) {
      open_supported(frame);
    }
    frame.num_paths = paths_.size() - frame.first_path;
    if (num_frames_ == 1) {
      go_on_allowed_ = frame.all || frame.num_paths > 0;
      stop_allowed_ = options_.guidance == Guidance::kSyntax || (legal && constraint_->task().is_goal(frame.state));
    }
  }

  void open_all(Frame& frame) {
    frame.all = frame.left > 1;
    if (frame.all || frame.left == 0) return;
    // The last action: only closing entries.
    const auto [begin, end] = automaton_->group(frame.group);
    for (std::uint32_t rank = begin; rank < end; ++rank) {
      if (automaton_->entry(rank).next == kClose) paths_.push_back({rank, mass_.log_mass(rank), 0});
    }
  }

  void open_supported(Frame& frame) {
    if (constraint_->lookahead()->verdict() != Verdict::kSolvable) return;
    support_.candidates(frame.state, frame.left, frame.candidates);
    double log_go_on = kMinusInfinity;
    double log_idle = kMinusInfinity;  // by actions that change nothing relevant
    for (const Candidate& candidate : frame.candidates) {
      if (candidate.answer != Answer::kYes) continue;
      constraint_->task().apply(frame.state, candidate.action, successor_);
      add_paths(candidate, frame.left - 1);
      const bool relevant = constraint_->task().program().action(static_cast<std::uint32_t>(candidate.action)).relevant;
      double& log_sum = relevant ? log_go_on : log_idle;
      log_sum = log_add(log_sum, log_action_probability(candidate.action) + candidate.log_weight);
    }
    if (log_go_on == kMinusInfinity) log_go_on = log_idle;
    if (options_.guidance == Guidance::kUniform) frame.log_go_on = std::max(log_go_on - log_go_, kFloor);
    std::sort(paths_.begin() + static_cast<std::ptrdiff_t>(frame.first_path), paths_.end(),
              [](const Path& a, const Path& b) { return a.rank < b.rank; });
  }

  double log_action_probability(ActionId action) const {
    return log_end_ * static_cast<double>(1 + constraint_->task().arguments(action).size());
  }

  // The entries of a supported action that leads to successor_ with `left` actions left.
  void add_paths(const Candidate& candidate, unsigned left) {
    const bool weigh = options_.guidance == Guidance::kUniform;
    const bool goal = constraint_->task().is_goal(successor_);
    if (goal) add_path(candidate.action, kClose, 0);
    double log_go_on = candidate.log_weight - log_go_;
    if (goal) {
      // The support of a goal state says nothing about leaving it again.
      const GoOn go_on = support_.go_on(successor_, left);
      if (go_on.answer != Answer::kYes) return;
      log_go_on = go_on.log_weight - log_go_;
    }
    for (std::uint32_t separator = 0; separator < automaton_->num_separators(); ++separator) {
      add_path(candidate.action, separator, weigh ? std::max(log_go_on, kFloor) : 0);
    }
  }

  void add_path(ActionId action, std::uint32_t next, double log_value) {
    const std::uint32_t rank = automaton_->rank(action, next, frame().group);
    paths_.push_back({rank, mass_.log_mass(rank), log_value});
  }

  // Moves a step past everything that needs no token.
  void enter(Step& step) {
    if (step.phase == Phase::kStart && step.opening && step.depth == automaton_->opening().size()) begin_entry(step);
    if (step.phase == Phase::kHead && step.depth == automaton_->prefix(frame().index).size()) begin_entry(step);
  }

  void begin_entry(Step& step) {
    step.phase = Phase::kEntry;
    step.depth = 0;
    step.begin = 0;
    step.end = static_cast<std::uint32_t>(frame().num_paths);
    std::tie(step.all_begin, step.all_end) = automaton_->group(frame().group);
  }

  // --- the start
  // --------------------------------------------------------------------------------------------------------

  // The tokens of the empty plan, and behind them any end-of-turn token.
  template <typename Visit>
  void visit_empty(const Step& step, const Visit& visit) const {
    if (!step.empty) return;
    const std::span<const TokenId> empty = automaton_->empty_plan();
    if (step.empty_depth < empty.size()) {
      visit(empty[step.empty_depth]);
    } else {
      for (TokenId token : automaton_->end_of_turn()) visit(token);
    }
  }

  void next_at_start(const Step& step) {
    visit_empty(step, [&](TokenId token) { next_.push_back({token, 0}); });
    if (!step.opening) return;
    const TokenId token = automaton_->opening()[step.depth];
    for (NextToken& other : next_) {
      if (other.token != token) continue;
      // Both can still be meant.
      if (options_.guidance == Guidance::kUniform) other.log_weight = log_add(log_end_, log_go_ + frame().log_go_on);
      return;
    }
    next_.push_back({token, frame().log_go_on});
  }

  bool accept_at_start(Step& step, TokenId token) {
    step.opening = step.opening && automaton_->opening()[step.depth] == token;
    ++step.depth;
    accept_empty(step, token);
    return step.opening || step.empty;
  }

  // Advances the empty plan; it is finished when the end of the turn was read behind it.
  void accept_empty(Step& step, TokenId token) {
    const bool matches = empty_continues(step, token);
    if (matches && step.empty_depth == automaton_->empty_plan().size()) step.phase = Phase::kDone;
    step.empty = matches;
    ++step.empty_depth;
  }

  // --- inside an action
  // -------------------------------------------------------------------------------------------------

  TokenId live_token(std::uint32_t path, std::size_t depth) const {
    return automaton_->tokens(paths_[frame().first_path + path].rank)[depth];
  }

  void next_in_entry(const Step& step) {
    if (frame().all) {
      for (std::uint32_t rank = step.all_begin; rank < step.all_end;) {
        const TokenId token = automaton_->tokens(rank)[step.depth];
        next_.push_back({token, 0});
        rank = automaton_->narrow(rank, step.all_end, step.depth, token).second;
      }
    } else {
      for (std::uint32_t begin = step.begin; begin < step.end;) {
        const TokenId token = live_token(begin, step.depth);
        std::uint32_t end = begin + 1;
        while (end < step.end && live_token(end, step.depth) == token) ++end;
        next_.push_back({token, log_weight(step, token, begin, end)});
        begin = end;
      }
    }
    // The empty plan may go along with the opening, and even with the beginning of an entry.
    visit_empty(step, [&](TokenId token) {
      const auto same = [token](const NextToken& choice) { return choice.token == token; };
      if (std::none_of(next_.begin(), next_.end(), same)) next_.push_back({token, 0});
    });
  }

  // True when the empty plan goes on with `token`, too.
  bool empty_continues(const Step& step, TokenId token) const {
    bool matches = false;
    visit_empty(step, [&](TokenId candidate) { matches = matches || candidate == token; });
    return matches;
  }

  double log_weight(const Step& step, TokenId token, std::uint32_t begin, std::uint32_t end) const {
    if (options_.guidance != Guidance::kUniform) return 0;
    const Path* paths = paths_.data() + frame().first_path;
    const bool model =
        options_.bridge == Bridge::kModel && !path_scores_.empty() && path_scores_frame_ + 1 == num_frames_;
    const auto term = [&](std::uint32_t i) {
      return (model ? path_scores_[i][step.depth] : paths[i].log_mass) + paths[i].log_value;
    };
    double largest = kMinusInfinity;
    for (std::uint32_t i = begin; i < end; ++i) largest = std::max(largest, term(i));
    double sum = 0;
    for (std::uint32_t i = begin; i < end; ++i) sum += std::exp(term(i) - largest);
    double result = largest + std::log(sum);
    // With the model's own probabilities there is nothing to normalise: what it would write besides is lost.
    if (!model) {
      const auto [all_begin, all_end] = automaton_->narrow(step.all_begin, step.all_end, step.depth, token);
      double total = mass_.log_total(all_begin, all_end);
      if (empty_continues(step, token)) {
        // Stopping has p_end, all entries together have what is left.
        const double scale = log_entry_scale();
        result = log_add(result + scale, log_end_);
        total = log_add(total + scale, log_end_);
      }
      result -= total;
    }
    return std::max(result, 2 * kFloor);
  }

  // Makes the mass of entries comparable with that of the empty plan. The surrogate's already is.
  double log_entry_scale() const {
    if (options_.bridge == Bridge::kSurrogate) return 0;
    const auto [begin, end] = automaton_->group(frame().group);
    return log_go_ - mass_.log_total(begin, end);
  }

  bool accept_in_entry(Step& step, TokenId token) {
    const auto [all_begin, all_end] = automaton_->narrow(step.all_begin, step.all_end, step.depth, token);
    step.all_begin = all_begin;
    step.all_end = all_end;
    if (frame().all) {
      if (all_begin == all_end) return accept_empty_instead(step, token);
    } else {
      while (step.begin < step.end && live_token(step.begin, step.depth) != token) ++step.begin;
      std::uint32_t end = step.begin;
      while (end < step.end && live_token(end, step.depth) == token) ++end;
      step.end = end;
      if (step.begin == step.end) return accept_empty_instead(step, token);
    }
    step.empty = empty_continues(step, token);
    ++step.empty_depth;
    ++step.depth;
    const std::uint32_t rank = frame().all ? step.all_begin : paths_[frame().first_path + step.begin].rank;
    if (automaton_->tokens(rank).size() == step.depth) finish_entry(step, automaton_->entry(rank));
    return true;
  }

  bool accept_empty_instead(Step& step, TokenId token) {
    accept_empty(step, token);
    // Nothing but the empty plan is left.
    if (step.phase != Phase::kDone) step.phase = Phase::kStart;
    step.opening = false;
    return step.empty;
  }

  void finish_entry(Step& step, const TokenAutomaton::Entry& entry) {
    actions_.push_back(entry.action);
    step.num_actions = static_cast<std::uint32_t>(actions_.size());
    if (entry.next == kClose) {
      step.phase = Phase::kEnd;
      return;
    }
    separators_.push_back(entry.next);
    step.num_separators = static_cast<std::uint32_t>(separators_.size());
    if (frames_.size() == num_frames_) frames_.emplace_back();
    State& successor = frames_[num_frames_].state;
    frames_[num_frames_].group = automaton_->group_after(entry.next);
    // With kSyntax the action need not be legal; the state then stays what it was.
    if (!constraint_->task().apply(frame().state, entry.action, successor)) successor = frame().state;
    open_frame(frame().left - 1, true);
    step.frame = static_cast<std::uint32_t>(num_frames_ - 1);
    step.phase = Phase::kHead;
    step.depth = 0;
  }

  std::shared_ptr<const Constraint> constraint_;
  const TokenAutomaton* automaton_;
  DecoderOptions options_;
  Support support_;
  double log_end_;  // log p_end
  double log_go_;   // log(1 - p_end)
  EntryMass mass_;
  std::vector<Frame> frames_;  // the first num_frames_ are in use
  std::size_t num_frames_ = 0;
  std::vector<Path> paths_;  // of all frames, in order
  std::vector<std::vector<double>> path_scores_;
  std::size_t path_scores_frame_ = 0;
  std::vector<Step> steps_;  // one more than tokens
  std::vector<TokenId> tokens_;
  std::vector<ActionId> actions_;
  std::vector<std::uint32_t> separators_;
  std::vector<NextToken> next_;
  std::vector<TokenId> forced_;
  State successor_;
  bool go_on_allowed_ = false;  // of the initial state
  bool stop_allowed_ = false;
};

Decoder::Decoder(std::shared_ptr<const Constraint> constraint, const DecoderOptions& options)
    : impl_(std::make_unique<Impl>(std::move(constraint), options)) {}
Decoder::Decoder(const Decoder& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Decoder& Decoder::operator=(const Decoder& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

std::span<const NextToken> Decoder::next() noexcept { return impl_->next(); }
std::span<const TokenId> Decoder::forced() noexcept { return impl_->forced(); }
bool Decoder::accept(TokenId token) noexcept { return impl_->accept(token); }
void Decoder::rollback(std::size_t tokens) noexcept { impl_->rollback(tokens); }
bool Decoder::finished() const { return impl_->finished(); }
std::size_t Decoder::num_tokens() const { return impl_->num_tokens(); }
std::span<const TokenId> Decoder::tokens() const { return impl_->tokens(); }
std::span<const ActionId> Decoder::actions() const { return impl_->actions(); }
std::span<const std::uint32_t> Decoder::separators() const { return impl_->separators(); }
const State& Decoder::state() const { return impl_->state(); }
unsigned Decoder::left() const { return impl_->left(); }
bool Decoder::at_boundary() const { return impl_->at_boundary(); }
std::span<const Candidate> Decoder::candidates() const { return impl_->candidates(); }
std::vector<std::vector<TokenId>> Decoder::paths() const { return impl_->paths(); }
void Decoder::set_path_scores(const std::vector<std::vector<float>>& scores) { impl_->set_path_scores(scores); }
const Constraint& Decoder::constraint() const { return impl_->constraint(); }
const DecoderOptions& Decoder::options() const { return impl_->options(); }

}  // namespace metactrl
