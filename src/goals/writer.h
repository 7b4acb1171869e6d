// The likeliest goals that somebody else finds good, written token by token.
#ifndef METACTRL_SRC_GOALS_WRITER_H_
#define METACTRL_SRC_GOALS_WRITER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "goals/mentions.h"
#include "metactrl/error.h"
#include "metactrl/language_model.h"
#include "metactrl/task.h"
#include "text/token_automaton.h"

namespace metactrl::goals {

// Items in the order in which they were written.
using Conjunction = std::vector<ActionId>;

class Writer {
 public:
  // May the last item join those before it, which may be together? Asked once for each set.
  using Judge = std::function<bool(const Conjunction& items)>;
  // log weights of writing an item behind others: the item, ending behind it, going on. May be empty: all alike.
  using Weigh = std::function<Mentions::Weight(const Conjunction& before, ActionId item)>;
  // The items that may be written behind others, ascending: what is known without a search. May be empty: all.
  using Offer = std::function<std::vector<ActionId>(const Conjunction& before)>;
  struct Options {
    std::size_t width = 3;      // goals that are followed at once, and given back
    std::size_t max_items = 8;  // in a goal
    std::size_t max_rounds = 256;
    bool repeats = false;  // an item that is written twice is asked for twice
    Offer offer{};
    Weigh weigh{};
    // May be empty. Items that cannot be in any goal, and those that say the contrary of another.
    std::function<bool(ActionId item)> impossible{};
    std::function<std::optional<ActionId>(ActionId item)> opposite{};
  };
  struct Hypothesis {
    Conjunction items;
    double log_probability = 0;  // of its tokens, among those that were allowed at each, weights included
    std::size_t tokens = 0;
    std::size_t choices = 0;  // tokens at which there was another
  };

  // All must outlive the writer. The session has read the prompt. `judge` may be empty: then every item that is offered
  // may be written.
  Writer(const TokenAutomaton& automaton, Session& session, Judge judge, const Options& options, const Stop& stop)
      : automaton_(automaton),
        session_(session),
        judge_(std::move(judge)),
        options_(options),
        stop_(stop),
        prompt_size_(session.size()) {}

  // Different sets, the likeliest first. None when no item may be written, or none was found in time.
  std::vector<Hypothesis> run();
  // Conjunctions whose last item was refused when it was the likeliest thing to write, in that order.
  const std::vector<Conjunction>& refused() const { return refused_; }

 private:
  // A place in the text of a goal.
  struct Place {
    Conjunction items;
    std::shared_ptr<const std::vector<std::uint32_t>> live;  // ranks that may be written here, ascending
    std::shared_ptr<const std::vector<double>> mass;         // of all before each of them, and of all; where weighed
    std::size_t begin = 0;                                   // those that begin with what was read
    std::size_t end = 0;
    std::size_t depth = 0;
    std::vector<TokenId> tokens;
    double log_probability = 0;
    std::size_t choices = 0;
    bool done = false;
  };
  struct Branch {
    TokenId token{};
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  bool round();
  std::vector<Place> keep_best(std::vector<Place> places);
  void expand(const Place& place, std::vector<Place>& out);
  std::optional<Place> open(Conjunction items, std::uint32_t group, const Place& before);
  bool settle(Place& place, bool likeliest);
  bool finish_entry(Place& place, bool likeliest);
  std::vector<Branch> branches(const Place& place) const;
  bool may_join(const Conjunction& items, ActionId item) const;
  bool judge(const Conjunction& items, bool likeliest);
  const std::vector<double>& log_probabilities(const Place& place, const std::vector<Branch>& branches);
  std::shared_ptr<const std::vector<double>> weigh(const Conjunction& items,
                                                   const std::vector<std::uint32_t>& live) const;
  void ask_model(const std::vector<TokenId>& tokens, const std::vector<Branch>& branches);
  bool is_likeliest(const Place& place) const;
  void keep(const Place& place);

  bool is_impossible(ActionId item) const { return options_.impossible && options_.impossible(item); }

  const TokenAutomaton& automaton_;
  Session& session_;
  Judge judge_;
  Options options_;
  const Stop& stop_;
  std::size_t prompt_size_;
  std::vector<TokenId> read_;  // what the session has read behind the prompt
  // What the model said, by what it had read: the allowed tokens with their logits.
  std::map<std::vector<TokenId>, std::vector<std::pair<TokenId, double>>> logits_;
  std::vector<double> scores_;
  // In the order of their ids, each as often as it was written.
  using Sorted = std::vector<ActionId>;
  std::set<Sorted> good_;
  // Item and what it may not join. It may not join more, either.
  std::map<ActionId, std::vector<Sorted>> bad_;
  std::vector<Conjunction> refused_;
  Conjunction good_so_far_;  // the last that was found good as the likeliest
  bool refused_now_ = false;
  bool strict_ = false;
  std::map<Sorted, Hypothesis> found_;
};

}  // namespace metactrl::goals

#endif  // METACTRL_SRC_GOALS_WRITER_H_
