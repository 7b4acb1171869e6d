// The bridges behind a walk: which actions are meant while their text is incomplete.
//
// A walk knows the live *paths* of a boundary, what each is worth (S), and which of them a symbol keeps. A bridge knows
// how likely each is meant (m), and puts the two together:
//
//     sum over the symbol's live paths of  m(path) S(path)   /   sum over all entries with the same prefix of  m(entry)
//
//     MassBridge     m from the uniform surrogate: the same for all actions, or their probability
//     TrainedBridge  the same with a trained surrogate
//     ModelBridge    m from the language model, where it has scored the paths
//
// One is more than a bridge, and has no denominator: what its model would write besides counts against a text.
//
//     TokenBridge    m from a hidden Markov model of tokens, to the end of the plan; also without paths (guidance syntax)
//
// A bridge is chosen once, when the walk is made. The walk tells it of every boundary it opens; the boundaries are a
// stack, and one that is opened replaces what was known of its number and all above it. A symbol costs one virtual call.
// After warm-up nothing is allocated.
#ifndef METACTRL_SRC_DECODE_BRIDGE_H_
#define METACTRL_SRC_DECODE_BRIDGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lookahead/belief.h"
#include "metactrl/decoder.h"
#include "metactrl/lookahead.h"

namespace metactrl::decode {

// One way to go on from a boundary: an entry of the token automaton.
struct Path {
  std::uint32_t rank = 0;
  double log_mass = 0;   // log m, as the bridge said
  double log_value = 0;  // log S
  double expense = 0;    // what the best plan known through it takes, as the decoder's options value it
};

// A place between two actions.
struct Boundary {
  std::size_t number = 0;             // how many actions are before it
  std::uint32_t group = 0;            // of the automaton's entries: where in the text the next one begins
  std::uint32_t entered_by = 0;       // rank of the entry that led here, unless it is the first
  double log_end = 0;                 // log p_end: the plan ends here
  double log_go = 0;                  // log(1 - p_end)
  lookahead::SurrogateBelief belief;  // of a trained surrogate
};

// A symbol inside an entry, and what goes on with it.
struct Choice {
  std::uint32_t begin = 0;  // live paths, at least one
  std::uint32_t end = 0;
  std::uint32_t all_begin = 0;  // entries by rank
  std::uint32_t all_end = 0;
  std::uint32_t depth = 0;  // of the symbol in its entries
  bool empty = false;       // the empty plan goes on with it, too
  std::uint32_t empty_depth = 0;
};

// A symbol before the entries of a boundary, or one that leaves nothing but the empty plan.
struct Before {
  enum class Part : std::uint8_t { kOpening, kNumber, kEmpty };
  Part part = Part::kEmpty;
  std::uint32_t depth = 0;  // in the opening, or in the number in front of the entry
  bool empty = false;       // the empty plan goes on with it
  std::uint32_t empty_depth = 0;
  double log_go_on = 0;  // what it is worth to go on once that is decided
};

class PathBridge {
 public:
  virtual ~PathBridge() = default;
  virtual std::unique_ptr<PathBridge> fork() const = 0;

  // log m of an entry of a supported action.
  virtual double log_mass(std::uint32_t rank, const Candidate& candidate) const = 0;
  // `paths` are live at the boundary, ascending by rank.
  virtual void open(const Boundary& boundary, std::span<const Path> paths) = 0;
  // The logarithm of the value above, at the boundary opened last. Finite.
  virtual double log_weight(const Boundary& boundary, std::span<const Path> paths, const Choice& choice) const = 0;
  // The same for a symbol before the entries: by what it is worth to go on, and to stop where the plan may be empty.
  virtual double log_weight_before(const Boundary& boundary, std::span<const Path> paths, const Before& before) const;
  // scores[path][depth] is the language model's log-probability of what is left of a path behind its symbol at that
  // depth. Empty: nothing is known.
  virtual void set_path_scores(const Boundary& boundary, std::vector<std::vector<double>> scores) {
    static_cast<void>(boundary);
    static_cast<void>(scores);
  }

 protected:
  PathBridge() = default;
  PathBridge(const PathBridge&) = default;
  PathBridge& operator=(const PathBridge&) = default;
};

// Throws InputError as Decoder's constructor does, and Stopped. Null for a guidance that does not weigh.
std::unique_ptr<PathBridge> make_bridge(const Constraint& constraint, const DecoderOptions& options, const Stop& stop);

// A bridge as a member: a copy is a fork.
class OwnBridge {
 public:
  explicit OwnBridge(std::unique_ptr<PathBridge> bridge) : bridge_(std::move(bridge)) {}
  OwnBridge(const OwnBridge& other) : bridge_(other.bridge_ == nullptr ? nullptr : other.bridge_->fork()) {}
  OwnBridge& operator=(const OwnBridge&) = delete;
  ~OwnBridge() = default;

  explicit operator bool() const { return bridge_ != nullptr; }
  PathBridge* operator->() { return bridge_.get(); }
  const PathBridge* operator->() const { return bridge_.get(); }

 private:
  std::unique_ptr<PathBridge> bridge_;
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_BRIDGE_H_
