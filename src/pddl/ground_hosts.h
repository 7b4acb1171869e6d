// Ground tasks in which actions run inside others: which ones still run as facts, and what actions mean then.
#ifndef METACTRL_SRC_PDDL_GROUND_HOSTS_H_
#define METACTRL_SRC_PDDL_GROUND_HOSTS_H_

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pddl/ast.h"
#include "pddl/ground_durations.h"
#include "support/meter.h"
#include "task/definition.h"

namespace metactrl::pddl {

// Which of them run takes more to say than anybody would wait for.
class TooManyHosts : public std::exception {};

// First all hosts and all durations are announced; then `add_facts`; the rest may be asked after that. See Ast::has_hosts.
class GroundHosts {
 public:
  explicit GroundHosts(internal::Meter& meter) : meter_(meter) {}

  // A host, as `name` and arguments; returns its number, from 0 on.
  std::size_t announce(std::string name, std::vector<ObjectId> arguments, const GroundRun& run);
  // The duration of an action that may run inside one.
  void announce(std::int64_t duration) { durations_.insert(duration); }
  void add_facts(task::Definition& definition);
  std::size_t size() const { return hosts_.size(); }
  // So many run inside each other at most.
  std::size_t num_places() const { return places_.size(); }

  // Is there room for an action that takes `duration` inside one that takes `host`?
  static bool fits(std::int64_t duration, std::int64_t host) { return parts(duration, host).has_value(); }

  // What an action is beside its points.
  struct Guest {
    std::optional<std::size_t> host;  // its number, where it is one
    bool fits = false;                // its duration does not depend on the state
    std::vector<bool> touches;        // by host
  };
  // The action as one that takes no time, whichever hosts run.
  GroundPoint among_hosts(const GroundRun& run, const Guest& guest);
  // What must hold now for the condition to hold when all hosts have ended, and for that to be possible.
  task::Formula in_the_end(const task::Formula& condition) const;
  // Can some host be kept from ending?
  bool may_not_end() const;

 private:
  struct Host {
    std::string name;
    std::vector<ObjectId> arguments;
    task::Formula over_all;
    GroundPoint end;
    std::int64_t duration = 0;
  };
  // A place for a host: inside the host of the place before.
  struct Place {
    task::FactId taken{};
    std::vector<task::FactId> runs;  // by host
    // So many parts at least are left, by the host's duration and the parts; false where no such host runs there.
    std::map<std::int64_t, std::map<std::uint32_t, task::FactId>> left;
    std::vector<task::FactId> all;
  };
  using Known = std::map<task::FactId, bool>;
  // The action where `running` hosts run and the outermost `kept` do not end.
  struct Way {
    std::size_t running = 0;
    std::size_t kept = 0;
    GroundPoint point;
    task::Formula rest;    // of its condition, what the others do not ask for
    task::Formula chosen;  // when this is the way
  };

  // Parts of a host that an action takes; nothing when it never fits.
  static std::optional<std::uint32_t> parts(std::int64_t duration, std::int64_t host);
  std::size_t most_places() const;
  std::set<std::uint32_t> values(std::int64_t duration) const;
  task::Formula literal(task::FactId fact, bool value) const { return task::Formula::literal(fact, !value); }
  task::Formula running_is(std::size_t count) const;
  GroundPoint end_of(std::size_t number) const;
  GroundPoint after_ends(std::size_t running, std::size_t kept, GroundPoint rest) const;
  void keep_hosts(const std::vector<task::EffectDefinition>& effects, const Guest& guest, std::size_t kept,
                  GroundPoint& point) const;
  GroundPoint inside(const GroundRun& run, const Guest& guest, std::size_t kept) const;
  std::vector<Way> ways(const GroundRun& run, const Guest& guest, std::vector<task::Formula>& condition) const;
  // Throws TooManyHosts when there are too many literals in all.
  void count(const task::Formula& formula);
  // What a positive literal of a host's fact says of the others.
  void learn(task::FactId fact, Known& known) const;

  static constexpr std::size_t kMostLiterals = 20'000'000;

  internal::Meter& meter_;
  std::size_t literals_ = 0;
  std::vector<Host> hosts_;
  std::set<std::int64_t> durations_;
  std::vector<Place> places_;
  std::map<task::FactId, std::size_t> place_of_;
};

}  // namespace metactrl::pddl

#endif  // METACTRL_SRC_PDDL_GROUND_HOSTS_H_
