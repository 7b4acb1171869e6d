// The tables of docs/pddl-support.md. Of what is supported every line has an example, and every example loads in the place
// where it belongs, which is found by trying all of them. Of what is refused every example is refused everywhere, and in the
// place where it belongs with the message that the line has.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "support/test_data.h"

namespace metactrl::support_doc_test {
namespace {

struct Row {
  std::string part;
  std::vector<std::string> examples;  // between backquotes
  bool together = false;              // two that are there at once: one `beside` the other
  std::string message;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t begin = 2; begin < line.size();) {
    const std::size_t end = std::min(line.find(" |", begin), line.size());
    cells.push_back(line.substr(begin, end - begin));
    begin = end + 3;
  }
  return cells;
}

std::vector<std::string> code_in(const std::string& cell) {
  std::vector<std::string> spans;
  for (std::size_t begin = cell.find('`'); begin != std::string::npos;) {
    const std::size_t end = cell.find('`', begin + 1);
    if (end == std::string::npos) break;
    spans.push_back(cell.substr(begin + 1, end - begin - 1));
    begin = cell.find('`', end + 1);
  }
  return spans;
}

// The rows of the table below a heading, but for the one about files that are not PDDL.
std::vector<Row> rows_below(const std::string& heading) {
  std::ifstream in(testing::source_dir() / "docs/pddl-support.md");
  std::vector<Row> rows;
  std::string line;
  while (std::getline(in, line) && line != heading) continue;
  while (std::getline(in, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| ") || line.starts_with("| part |") || line.starts_with("| what |") ||
        line.starts_with("| SAS |")) {
      continue;
    }
    const std::vector<std::string> cells = cells_of(line);
    if (heading == "## Supported") {
      rows.push_back({cells.at(0), code_in(cells.at(2)), false, ""});
    } else {
      rows.push_back({cells.at(0), code_in(cells.at(1)), cells[1].find("` beside `") != std::string::npos,
                      code_in(cells.at(2)).at(0)});
    }
  }
  return rows;
}

// What a domain and a problem have at each place; the example is put behind it.
struct Places {
  std::string domain;        // a section
  std::string precondition;  // of an action
  std::string effect;
  std::string duration = ":duration (= ?duration 1)";  // of one that takes time
  std::string condition;
  std::string timed_effect;
  std::string init;
  std::string goal;
  std::string constraint;
  std::string problem;  // a section
};
constexpr std::array kPlaces = {&Places::domain,     &Places::precondition, &Places::effect, &Places::duration,
                                &Places::condition,  &Places::timed_effect, &Places::init,   &Places::goal,
                                &Places::constraint, &Places::problem};

std::string domain_text(const Places& places) {
  const std::string parameters = ":parameters (?a ?b ?box ?to ?r ?p) ";
  std::string text =
      "(define (domain d) (:requirements :adl :derived-predicates :numeric-fluents :durative-actions :action-costs "
      ":duration-inequalities :timed-initial-literals :constraints :preferences)\n";
  if (!places.domain.starts_with("(:types")) text += "(:types door key item cup room place)\n";
  if (!places.domain.starts_with("(:constants")) text += "(:constants shop floor cup shelf)\n";
  text +=
      "(:predicates (locked ?x) (held ?x) (in ?x ?y) (at ?x ?y) (on ?x ?y) (above ?x ?y) (clean ?x) (lit ?x) (dirty "
      "?x) "
      "(open ?x) (ready))\n"
      "(:functions (battery ?x) (distance ?x ?y) (total-cost))\n" +
      places.domain;
  for (const char* name : {"grab", "wash", "rinse"})
    text += std::string("(:action ") + name + " :parameters (?x) :effect (clean ?x))\n";
  text += "(:action puton :parameters (?x ?y) :effect (on ?x ?y))\n";
  const bool acts = !places.precondition.empty() || !places.effect.empty();
  text += "(:action act " + (acts ? parameters : "") + ":precondition (and " + places.precondition +
          ") :effect (and (ready) " + places.effect + "))\n";
  const bool takes_time =
      !places.condition.empty() || !places.timed_effect.empty() || places.duration != Places().duration;
  if (takes_time) {
    text += "(:durative-action work " + parameters + places.duration + " :condition (and " + places.condition +
            ") :effect (and (at end (ready)) " + places.timed_effect + "))\n";
  }
  return text + ")";
}

std::string problem_text(const Places& places) {
  const std::string preference = places.problem.starts_with("(:metric") ? "(preference tidy (ready))" : "";
  return "(define (problem p) (:domain d) (:init " + places.init + ")\n(:goal (and (ready) " + preference +
         places.goal + "))\n" + (places.constraint.empty() ? "" : "(:constraints " + places.constraint + ")\n") +
         places.problem + ")";
}

// Why it does not load; "" where it does.
std::string complaint(const Places& places) {
  try {
    load_pddl_text(domain_text(places), problem_text(places));
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(SupportDoc, AnEmptyPlaceIsFine) { EXPECT_EQ(complaint({}), ""); }

TEST(SupportDoc, NonsenseLoadsNowhere) {
  for (const auto place : kPlaces) {
    Places places;
    places.*place = "(nonsense ?q)";
    EXPECT_NE(complaint(places), "");
  }
}

TEST(SupportDoc, EveryExampleLoads) {
  const std::vector<Row> rows = rows_below("## Supported");
  EXPECT_GT(rows.size(), 10U);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.part);
    EXPECT_FALSE(row.examples.empty());
    for (const std::string& example : row.examples) {
      std::string complaints;
      const bool loads = std::any_of(kPlaces.begin(), kPlaces.end(), [&](const auto place) {
        Places places;
        places.*place = example;
        const std::string said = complaint(places);
        complaints += said + "\n";
        return said.empty();
      });
      EXPECT_TRUE(loads) << example << "\n" << complaints;
    }
  }
}

// Everywhere; `message` is what somewhere is said.
void expect_refused(const std::vector<std::string>& examples, const std::string& message) {
  std::string complaints;
  bool said_so = false;
  const auto try_places = [&](const Places& places) {
    const std::string said = complaint(places);
    EXPECT_NE(said, "") << domain_text(places) << problem_text(places);
    said_so = said_so || said.find("error: " + message) != std::string::npos ||
              (message.starts_with("...") && said.find(message) != std::string::npos);
    complaints += said + "\n";
  };
  for (const auto place : kPlaces) {
    Places places;
    places.*place = examples.at(0);
    if (examples.size() == 1) try_places(places);
    for (const auto second : kPlaces) {
      if (examples.size() == 1 || second == place) continue;
      Places both = places;
      both.*second = examples[1];
      try_places(both);
    }
  }
  EXPECT_TRUE(said_so) << message << "\n" << complaints;
}

TEST(SupportDoc, EveryExampleOfWhatIsRefusedIsRefusedWithItsMessage) {
  const std::vector<Row> rows = rows_below("## Refused, with what to do instead");
  EXPECT_GT(rows.size(), 30U);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.part);
    EXPECT_FALSE(row.examples.empty());
    if (row.together) {
      expect_refused(row.examples, row.message);
    } else {
      for (const std::string& example : row.examples) expect_refused({example}, row.message);
    }
  }
}

}  // namespace
}  // namespace metactrl::support_doc_test
