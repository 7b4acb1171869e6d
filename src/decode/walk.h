// Walk: a place in the text of a plan, what may follow, and what each continuation is worth; in symbols of the token
// automaton. A Decoder takes tokens and knows how they become symbols.
//
//     Walk walk(constraint, options);
//     Walk::Step step = walk.start();
//     walk.edges(step, [&](const Walk::Edge& edge) { ... walk.log_weight(step, edge) ... });
//     walk.take(step, edge);         // step is now behind the edge's symbol
//     walk.restore(earlier);         // back to any step that was passed on the way here
//     walk.forget(mark);             // and what the lookahead found out since then, where it was taken back for good
//
// A step is a plain value, so that a path can be tried and forgotten. What is too large for a step lies on stacks
// inside the walk: the boundaries between actions with their states and candidates. A step says how much of them it
// needs, and restore() cuts off the rest. A step is good as long as no shorter one was restored.
//
// The memory of what was cut off is used again: after warm-up nothing is allocated.
#ifndef METACTRL_SRC_DECODE_WALK_H_
#define METACTRL_SRC_DECODE_WALK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "decode/bridge.h"
#include "lookahead/belief.h"
#include "metactrl/decoder.h"
#include "metactrl/lookahead.h"
#include "text/token_automaton.h"

namespace metactrl::decode {

class Walk {
 public:
  enum class Phase : std::uint8_t {
    kStart,  // opening, or the empty plan
    kHead,   // the number in front of an entry
    kEntry,  // an action and what follows it
    kEnd,    // the end of the turn
    kDone,
  };

  struct Step {
    Phase phase = Phase::kStart;
    bool opening = false;  // kStart: the opening can still be meant
    bool empty = false;    // the empty plan can still be meant (also in the first kEntry)
    std::uint32_t frame = 0;
    std::uint32_t depth = 0;        // symbols read of the opening, the head or the entry
    std::uint32_t empty_depth = 0;  // symbols read of the empty plan
    std::uint32_t begin = 0;        // live paths, relative to the frame's first; unused when all are live
    std::uint32_t end = 0;
    std::uint32_t all_begin = 0;  // entries by rank
    std::uint32_t all_end = 0;
    std::uint32_t num_actions = 0;
    std::uint32_t num_separators = 0;
  };

  // One symbol that may follow a step, and what goes on with it.
  struct Edge {
    TokenId symbol{};
    bool opening = false;
    bool empty = false;
    bool live = false;        // some live path
    std::uint32_t begin = 0;  // kEntry: those of the step that do
    std::uint32_t end = 0;
    std::uint32_t all_begin = 0;
    std::uint32_t all_end = 0;
  };

  Walk(std::shared_ptr<const Constraint> constraint, const DecoderOptions& options, Stop stop);
  // A fork. Caches of the lookahead are not shared: they belong to one walk.
  Walk(const Walk& other) = default;
  Walk& operator=(const Walk&) = delete;
  ~Walk() = default;

  // Before the first symbol. Only right after construction.
  Step start();

  // Calls visit(edge) for each symbol that may follow. `visit` may take edges, when it restores the step before it
  // returns.
  template <typename Visit>
  void edges(const Step& step, const Visit& visit) const;
  // The edge with this symbol, if there is one. Logarithmic in the number of entries.
  std::optional<Edge> edge(const Step& step, TokenId symbol) const;
  // The logarithm of what the text with the edge's symbol is worth, as defined in decoder.h. Finite.
  double log_weight(const Step& step, const Edge& edge) const;
  void take(Step& step, const Edge& edge);
  void restore(const Step& step);
  // How much the lookahead has found out, and back to that.
  lookahead::SupportMark mark() noexcept { return lookahead::mark(support_); }
  void forget(const lookahead::SupportMark& mark) noexcept { lookahead::back_to(support_, mark); }
  // Whatever is taken next belongs to another plan: the memory of what was forgotten is given back.
  void begin_again() noexcept { begins_again_ = true; }
  // The entry that is complete behind the edge; null where none is.
  const TokenAutomaton::Entry* completes(const Step& step, const Edge& edge) const;
  // Whether the form allows `symbol` right behind the separator of an entry: asked before a boundary is opened.
  bool may_begin(const TokenAutomaton::Entry& entry, TokenId symbol) const;

  const Constraint& constraint() const { return *constraint_; }
  const TokenAutomaton& automaton() const { return *automaton_; }
  const DecoderOptions& options() const { return options_; }
  std::span<const ActionId> actions() const { return actions_; }
  std::span<const std::uint32_t> separators() const { return separators_; }

  // --- the boundary at which the current action begins ---------------------------------------------------------------
  const State& state() const { return frame().state; }
  unsigned left() const { return frame().left; }
  std::span<const Candidate> candidates() const { return frame().candidates; }
  // Every entry is live: syntax only. There are then no paths.
  bool all() const { return frame().all; }
  std::size_t num_paths() const { return frame().num_paths; }
  std::uint32_t path_rank(std::size_t path) const { return paths_[frame().first_path + path].rank; }
  // The number in front of the entry that begins here.
  std::span<const TokenId> head() const { return automaton_->prefix(frame().boundary.number + 1); }

  // For Bridge::kModel, until the next boundary (PathBridge::set_path_scores).
  void set_path_scores(std::vector<std::vector<double>> scores) {
    if (bridge_) bridge_->set_path_scores(frame().boundary, std::move(scores));
  }

 private:
  struct Frame {
    Boundary boundary;
    State state;
    unsigned left = 0;
    bool all = false;
    std::size_t first_path = 0;
    std::size_t num_paths = 0;
    double expense = 0;  // the least of its paths
    std::vector<Candidate> candidates;
  };

  const Frame& frame() const { return frames_[num_frames_ - 1]; }
  void open_frame(unsigned left, bool legal);
  void open_all(Frame& frame);
  void open_supported(Frame& frame);
  void finish_paths(Frame& frame);
  void add_paths(const Candidate& candidate, unsigned left);
  void add_path(const Candidate& candidate, std::uint32_t next, double log_value, double expense);
  lookahead::GoOn leave_goal(unsigned left);
  // Weights are asked for, not only what is allowed.
  bool weighs() const { return static_cast<bool>(bridge_); }
  // By what the lookahead says of the future; else all that is supported is worth the same.
  bool weighs_future() const { return weighs_by_trained() || options_.guidance == Guidance::kUniform; }
  bool weighs_by_trained() const { return options_.guidance == Guidance::kTrained; }

  void enter(Step& step) const;
  void begin_entry(Step& step) const;
  void take_empty(Step& step, const Edge& edge) const;
  void take_in_entry(Step& step, const Edge& edge);
  void finish_entry(Step& step, const TokenAutomaton::Entry& entry);

  // The symbol with which the empty plan goes on, where it still can.
  TokenId empty_symbol(const Step& step) const {
    const std::span<const TokenId> empty = automaton_->empty_plan();
    return step.empty_depth < empty.size() ? empty[step.empty_depth] : TokenAutomaton::kEnd;
  }
  bool empty_goes_on(const Step& step, TokenId symbol) const { return step.empty && symbol == empty_symbol(step); }
  TokenId live_symbol(std::uint32_t path, std::size_t depth) const {
    return automaton_->tokens(path_rank(path))[depth];
  }
  double log_worth(const Step& step, const Edge& edge) const;
  double log_worth_in_entry(const Step& step, const Edge& edge) const;
  double log_worth_before(const Step& step, const Edge& edge) const;
  double log_go_on() const;
  bool is_frugal() const { return options_.per_action > 0 || options_.per_cost > 0; }
  double extra_expense(const Edge& edge) const;
  std::span<const Path> live_paths() const { return {paths_.data() + frame().first_path, frame().num_paths}; }
  // The first live path of [begin, end) whose rank is at least `rank`.
  std::uint32_t path_from(std::uint32_t begin, std::uint32_t end, std::uint32_t rank) const;
  std::shared_ptr<const Constraint> constraint_;
  const TokenAutomaton* automaton_;
  DecoderOptions options_;
  OwnBridge bridge_;  // where weights are asked for
  Support support_;
  double log_end_;             // of the uniform surrogate: log p_end
  double log_go_;              // log(1 - p_end)
  std::vector<Frame> frames_;  // the first num_frames_ are in use
  std::size_t num_frames_ = 0;
  std::vector<Path> paths_;  // of all frames, in order
  std::vector<ActionId> actions_;
  std::vector<std::uint32_t> separators_;
  State successor_;
  lookahead::SurrogateBelief successor_belief_;
  std::vector<State> path_;     // of the frames, where plans may not come back to a state
  bool go_on_allowed_ = false;  // of the initial state
  bool stop_allowed_ = false;
  bool begins_again_ = false;
};

template <typename Visit>
void Walk::edges(const Step& step, const Visit& visit) const {
  bool empty_is_left = step.empty;
  const auto give = [&](Edge edge) {
    edge.empty = empty_goes_on(step, edge.symbol);
    if (edge.empty) empty_is_left = false;
    visit(edge);
  };
  switch (step.phase) {
    case Phase::kStart:
      if (step.opening) give({.symbol = automaton_->opening()[step.depth], .opening = true});
      break;
    case Phase::kHead:
      give({.symbol = head()[step.depth]});
      break;
    case Phase::kEntry:
      for (std::uint32_t rank = step.all_begin, path = step.begin; all() ? rank < step.all_end : path < step.end;) {
        Edge edge{.symbol = all() ? automaton_->tokens(rank)[step.depth] : live_symbol(path, step.depth), .live = true};
        std::tie(edge.all_begin, edge.all_end) = automaton_->narrow(rank, step.all_end, step.depth, edge.symbol);
        edge.begin = path;
        if (!all()) path = path_from(path, step.end, edge.all_end);
        edge.end = path;
        rank = edge.all_end;
        give(edge);
      }
      break;
    case Phase::kEnd:
      give({.symbol = TokenAutomaton::kEnd});
      break;
    case Phase::kDone:
      break;
  }
  if (empty_is_left && step.phase != Phase::kDone && step.phase != Phase::kEnd) {
    visit(Edge{.symbol = empty_symbol(step), .empty = true});
  }
}

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_WALK_H_
