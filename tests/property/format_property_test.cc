// Plan formats against brute force: the proof of unambiguity against all pairs of words and all short plans, the parser
// against one that tries everything.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "metactrl/error.h"
#include "metactrl/format.h"
#include "support/named_task.h"
#include "support/repeats.h"
#include "text/collision.h"
#include "text/plan_reader.h"

namespace metactrl::format_property_test {
namespace {

using testing::named_task;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
  bool chance(std::size_t percent) { return below(100) < percent; }
  std::string text(std::string_view alphabet, std::size_t min_length, std::size_t max_length) {
    std::string out;
    const std::size_t length = min_length + below(max_length - min_length + 1);
    while (out.size() < length) out += alphabet[below(alphabet.size())];
    return out;
  }

 private:
  std::mt19937_64 engine_;
};

// A small format together with the items' texts it leads to.
struct Small {
  PlanFormat format;
  std::vector<std::string> items;
  std::vector<std::string> ends() const {
    std::vector<std::string> out = format.separators;
    out.push_back(format.close);
    return out;
  }
  std::string empty() const { return format.empty.empty() ? format.open + format.close : format.empty; }
  std::string prefix(std::size_t index) const {
    std::string out = format.prefix;
    const std::size_t place = out.find("{index}");
    if (place != std::string::npos) out.replace(place, 7, std::to_string(index));
    return out;
  }
  Task task() const {
    std::vector<PlanStep> steps;
    for (const std::string& item : items) steps.push_back({item, {}});
    return named_task(steps);
  }
};

// Three letters: collisions are frequent.
Small random_small(Random& random) {
  constexpr std::string_view kAlphabet = "ab1";
  Small small;
  small.format.name = "small";
  small.format.items["*"] = "{action}";
  if (random.chance(50)) small.format.open = random.text(kAlphabet, 0, 2);
  if (random.chance(30)) small.format.empty = random.text(kAlphabet, 1, 3);
  if (random.chance(30)) small.format.prefix = random.text("ab", 0, 1) + "{index}" + random.text("ab", 0, 1);
  small.format.close = random.text(kAlphabet, 1, 3);
  const std::size_t separators = 1 + random.below(2);
  for (std::size_t i = 0; i < separators; ++i) small.format.separators.push_back(random.text(kAlphabet, 1, 3));
  std::set<std::string> items;
  const std::size_t count = 1 + random.below(4);
  while (items.size() < count) items.insert(random.text(kAlphabet, 1, 4));
  small.items.assign(items.begin(), items.end());
  std::shuffle(small.items.begin(), small.items.end(), std::mt19937_64(random.below(1000)));
  return small;
}

bool related(std::string_view a, std::string_view b) { return a.starts_with(b) || b.starts_with(a); }

// All words in all pairs, and the empty plan against all of them.
bool has_collision(const Small& small) {
  const std::vector<std::string> ends = small.ends();
  std::vector<std::string> words;
  for (const std::string& item : small.items) {
    for (const std::string& end : ends) words.push_back(item + end);
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (related(small.empty(), small.format.open + small.prefix(1) + words[i])) return true;
    for (std::size_t j = 0; j < i; ++j) {
      if (related(words[i], words[j])) return true;
    }
  }
  return false;
}

// What a parser that tries every possibility finds in a text.
struct Readings {
  std::size_t complete = 0;  // plans with exactly this text
  bool beginning = false;    // of some plan's text, or all of it
  std::vector<std::size_t> actions;
  std::vector<std::size_t> current;
};

void read_items(const Small& small, std::string_view rest, std::size_t index, Readings& readings) {
  const std::string prefix = small.prefix(index);
  const std::vector<std::string> ends = small.ends();
  for (std::size_t item = 0; item < small.items.size(); ++item) {
    for (std::size_t end = 0; end < ends.size(); ++end) {
      const std::string word = prefix + small.items[item] + ends[end];
      if (std::string_view(word).starts_with(rest)) readings.beginning = true;
      if (!rest.starts_with(word)) continue;
      readings.current.push_back(item);
      if (end + 1 < ends.size()) {
        read_items(small, rest.substr(word.size()), index + 1, readings);
      } else if (rest.size() == word.size()) {
        ++readings.complete;
        readings.actions = readings.current;
      }
      readings.current.pop_back();
    }
  }
}

Readings read_all(const Small& small, const std::string& text) {
  Readings readings;
  if (small.empty().starts_with(text)) readings.beginning = true;
  if (small.empty() == text) ++readings.complete;
  if (small.format.open.starts_with(text)) readings.beginning = true;
  if (text.starts_with(small.format.open))
    read_items(small, std::string_view(text).substr(small.format.open.size()), 1, readings);
  return readings;
}

// All plans with up to three actions and all choices of separators.
void for_each_plan(const Small& small, const PlanSpelling& spelling, const auto& visit) {
  std::vector<std::pair<std::vector<ActionId>, std::vector<std::uint32_t>>> plans{{{}, {}}};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto plan = plans[i];
    visit(plan.first, plan.second, spelling.render(plan.first, plan.second));
    if (plan.first.size() == 3) continue;
    for (std::size_t item = 0; item < small.items.size(); ++item) {
      const std::size_t joints = plan.first.empty() ? 1 : small.format.separators.size();
      for (std::uint32_t separator = 0; separator < joints; ++separator) {
        auto longer = plan;
        longer.first.push_back(static_cast<ActionId>(item));
        if (!plan.first.empty()) longer.second.push_back(separator);
        plans.push_back(std::move(longer));
      }
    }
  }
}

void check_all_short_plans(const Small& small, const PlanSpelling& spelling) {
  std::set<std::string> texts;
  std::size_t count = 0;
  for_each_plan(small, spelling, [&](const auto& actions, const auto& separators, const std::string& text) {
    ++count;
    texts.insert(text);
    const PlanSpelling::Parsed parsed = spelling.parse(text);
    ASSERT_EQ(parsed.error, "");
    ASSERT_TRUE(parsed.complete);
    ASSERT_EQ(parsed.actions, actions);
    ASSERT_EQ(parsed.separators, separators);
    ASSERT_EQ(read_all(small, text).complete, 1U);
    for (std::size_t length = 0; length < text.size(); ++length) {
      const PlanSpelling::Parsed begun = spelling.parse(std::string_view(text).substr(0, length));
      ASSERT_EQ(begun.error, "");
      ASSERT_FALSE(begun.complete);
      ASSERT_LE(begun.actions.size(), actions.size());
      ASSERT_TRUE(std::equal(begun.actions.begin(), begun.actions.end(), actions.begin()));
    }
  });
  ASSERT_EQ(texts.size(), count) << "two plans have the same text";
  // Sorted, a text that begins another one stands right before one that it begins.
  for (auto text = texts.begin(); text != texts.end(); ++text) {
    const auto next = std::next(text);
    ASSERT_FALSE(next != texts.end() && next->starts_with(*text)) << *text << " begins " << *next;
  }
}

// The prover's own words for what collides must be true.
void check_collision(const Small& small, const std::string& error) {
  const std::vector<std::string> ends = small.ends();
  text::ItemTrie trie;
  const auto same = trie.build(small.items);
  ASSERT_FALSE(same) << "the items are different";
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!related(ends[i], ends[j])) continue;
      ASSERT_NE(error.find(" are the same"), error.find(": one is the beginning of the other")) << error;
      return;
    }
  }
  const auto collision = text::find_collision(trie, ends);
  if (!collision) {
    ASSERT_NE(error.find("the empty plan"), std::string::npos) << error;
    const auto word = text::find_word_like(small.empty(), small.format.open + small.prefix(1), trie, ends);
    ASSERT_TRUE(word);
    ASSERT_TRUE(
        related(small.empty(), small.format.open + small.prefix(1) + small.items[word->item] + ends[word->end]));
    return;
  }
  const std::string first = small.items[collision->first.item] + ends[collision->first.end];
  const std::string second = small.items[collision->second.item] + ends[collision->second.end];
  ASSERT_FALSE(collision->first == collision->second);
  ASSERT_TRUE(second.starts_with(first));
  ASSERT_NE(error.find("(" + small.items[collision->first.item] + ")"), std::string::npos) << error;
  ASSERT_NE(error.find("(" + small.items[collision->second.item] + ")"), std::string::npos) << error;
  if (collision->first.end + 1 != ends.size()) return;
  // A plan that ends with the first word is the beginning of a plan with the second.
  const std::string opening = small.format.open + small.prefix(1);
  ASSERT_GE(read_all(small, opening + first).complete, 1U);
  ASSERT_TRUE((opening + second).starts_with(opening + first));
}

TEST(FormatProperty, TheProofAgreesWithBruteForce) {
  Random random(1);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (std::uint64_t round = 0; round < testing::repeats(20000); ++round) {
    const Small small = random_small(random);
    std::string error;
    try {
      const PlanSpelling spelling(small.format, small.task());
      ASSERT_FALSE(has_collision(small)) << "accepted, but words collide; round " << round;
      ASSERT_NO_FATAL_FAILURE(check_all_short_plans(small, spelling)) << "round " << round;
      ++accepted;
      continue;
    } catch (const InputError& thrown) {
      error = thrown.what();
    }
    ASSERT_TRUE(has_collision(small)) << error << "; round " << round;
    ASSERT_NO_FATAL_FAILURE(check_collision(small, error)) << "round " << round;
    ++refused;
  }
  EXPECT_GT(accepted, testing::repeats(1000));
  EXPECT_GT(refused, testing::repeats(1000));
}

// A format with an empty closing is one whose closing is a letter that is not in the text: its end.
TEST(FormatProperty, WithAnEmptyClosingTheEndOfTheTextCloses) {
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; i < texts.size() && texts[i].size() < 6; ++i) {
    for (const char c : std::string_view("ab1")) texts.push_back(texts[i] + c);
  }
  Random random(3);
  std::size_t formats = 0;
  std::size_t refused = 0;
  std::size_t complete = 0;
  while (formats < 200 || refused < 200) {
    Small small = random_small(random);
    small.format.close.clear();
    Small closed = small;
    closed.format.close = "$";
    closed.format.empty = small.empty() + "$";
    if (has_collision(closed)) {
      ASSERT_THROW(PlanSpelling(small.format, small.task()), InputError);
      ++refused;
      continue;
    }
    ++formats;
    const PlanSpelling spelling(small.format, small.task());
    for (const std::string& text : texts) {
      const Readings readings = read_all(closed, text + "$");
      text::PlanReader reader(spelling);
      for (const char c : text) reader.read(std::string_view(&c, 1));
      const PlanSpelling::Parsed parsed = reader.result();
      ASSERT_EQ(parsed.error.empty(), read_all(closed, text).beginning) << text << ": " << parsed.error;
      ASSERT_EQ(parsed.complete, readings.complete == 1) << text;
      ASSERT_LE(readings.complete, 1U);
      if (!parsed.complete) continue;
      ++complete;
      std::vector<ActionId> actions;
      for (const std::size_t item : readings.actions) actions.push_back(static_cast<ActionId>(item));
      ASSERT_EQ(parsed.actions, actions) << text;
      ASSERT_EQ(spelling.render(parsed.actions, parsed.separators), text);
    }
  }
  EXPECT_GT(complete, 1000U);
}

TEST(FormatProperty, TheParserAgreesWithOneThatTriesEverything) {
  // All texts of up to six of these letters.
  constexpr std::string_view kAlphabet = "ab1";
  std::vector<std::string> texts{""};
  for (std::size_t i = 0; i < texts.size() && texts[i].size() < 6; ++i) {
    for (const char c : kAlphabet) texts.push_back(texts[i] + c);
  }
  Random random(2);
  std::size_t formats = 0;
  std::size_t complete = 0;
  while (formats < 1000) {
    const Small small = random_small(random);
    if (has_collision(small)) continue;
    ++formats;
    const PlanSpelling spelling(small.format, small.task());
    for (const std::string& text : texts) {
      const Readings readings = read_all(small, text);
      const PlanSpelling::Parsed parsed = spelling.parse(text);
      ASSERT_EQ(parsed.complete, readings.complete == 1) << text;
      ASSERT_LE(readings.complete, 1U);
      ASSERT_EQ(parsed.error.empty(), readings.beginning) << text << ": " << parsed.error;
      ASSERT_EQ(parsed.bytes_read == text.size(), readings.beginning) << text;
      if (!parsed.complete) continue;
      ++complete;
      ASSERT_EQ(parsed.actions.size(), readings.actions.size());
      for (std::size_t i = 0; i < readings.actions.size(); ++i)
        ASSERT_EQ(static_cast<std::size_t>(parsed.actions[i]), readings.actions[i]);
    }
  }
  EXPECT_GT(complete, 1000U);
}

// Larger tasks in the formats that ship, and in random ones with templates.
Task random_task(Random& random) {
  std::vector<std::string> objects;
  const std::size_t count = 2 + random.below(8);
  for (std::size_t i = 0; i < count; ++i)
    objects.push_back(random.text("abc\"\\.", 1, 5) + "_" + std::to_string(random.below(30)) + "x" + std::to_string(i));
  std::set<std::vector<std::string>> seen;
  std::vector<PlanStep> steps;
  const std::size_t names = 1 + random.below(5);
  for (std::size_t name = 0; name < names; ++name) {
    const std::size_t arity = random.below(4);
    for (std::size_t i = 0; i < 12; ++i) {
      PlanStep step{"act-" + std::to_string(name), {}};
      for (std::size_t j = 0; j < arity; ++j) step.arguments.push_back(objects[random.below(objects.size())]);
      std::vector<std::string> key = step.arguments;
      key.push_back(step.action);
      if (seen.insert(key).second) steps.push_back(step);
    }
  }
  return named_task(steps);
}

PlanFormat random_format(Random& random) {
  if (random.chance(50)) {
    const std::vector<std::string> names = PlanFormat::builtin_names();
    return PlanFormat::builtin(names[random.below(names.size())]);
  }
  const auto pick = [&random](const std::vector<std::string>& choices) {
    return choices[random.below(choices.size())];
  };
  PlanFormat format;
  format.name = "random";
  format.open = pick({"", "<", "plan: "});
  format.close = pick({".", "]", " end", "}\n"});
  format.separators = {pick({", ", "\n", "; ", " then "})};
  if (random.chance(40)) format.separators.push_back(pick({" and ", " | ", "\t"}));
  format.prefix = pick({"", "", "{index}. ", "- "});
  format.items["*"] = pick({"{action}({arguments})", "'{action}' {arguments}", "{action}[{arguments}]"});
  format.items["/2"] = pick({"{action} {2} from {1}", "{1} {action} {2}", "<{action}: {1}, {2}>"});
  format.argument = pick({"{object}", "{name}#{id}", "\"{object}\"", "the {id} {name}"});
  format.argument_separator = pick({", ", " ", "|"});
  format.id_separator = pick({"_", "x"});
  format.hyphen = pick({"-", " ", ""});
  format.action_case = random.chance(50) ? PlanFormat::Case::kUpper : PlanFormat::Case::kAsIs;
  format.escape = random.chance(50) ? PlanFormat::Escape::kJson : PlanFormat::Escape::kNone;
  return format;
}

std::string mutated(const std::string& text, Random& random) {
  constexpr std::string_view kBytes = "ab\"\\.,]})( \n0123_x";
  std::string out = text;
  const std::size_t changes = 1 + random.below(3);
  for (std::size_t i = 0; i < changes && !out.empty(); ++i) {
    const std::size_t at = random.below(out.size());
    switch (random.below(5)) {
      case 0:
        out[at] = kBytes[random.below(kBytes.size())];
        break;
      case 1:
        out.erase(at, 1 + random.below(4));
        break;
      case 2:
        out.insert(at, 1, kBytes[random.below(kBytes.size())]);
        break;
      case 3:
        out.insert(at, out.substr(random.below(out.size()), random.below(30)));
        break;
      default:
        out = out.substr(0, at) + text.substr(random.below(text.size()));
        break;
    }
  }
  return out;
}

PlanSpelling::Parsed parse_in_parts(const PlanSpelling& spelling, const std::string& text, Random& random) {
  text::PlanReader reader(spelling);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::min(text.size() - at, random.below(7));
    reader.read(std::string_view(text).substr(at, length));
    at += length;
  }
  return reader.result();
}

TEST(FormatProperty, RenderingAndParsingAreInverse) {
  Random random(3);
  std::size_t formats = 0;
  std::size_t still_plans = 0;
  for (std::uint64_t round = 0; round < testing::repeats(1500); ++round) {
    const Task task = random_task(random);
    std::optional<PlanSpelling> spelling;
    try {
      spelling.emplace(random_format(random), task);
    } catch (const InputError&) {
      continue;
    }
    ++formats;
    for (int i = 0; i < 10; ++i) {
      std::vector<ActionId> plan(random.below(15));
      for (ActionId& action : plan) action = static_cast<ActionId>(random.below(task.num_actions()));
      std::vector<std::uint32_t> separators(plan.empty() ? 0 : plan.size() - 1);
      for (std::uint32_t& separator : separators)
        separator = static_cast<std::uint32_t>(random.below(spelling->format().separators.size()));
      const std::string text = spelling->render(plan, separators);
      const PlanSpelling::Parsed parsed = parse_in_parts(*spelling, text, random);
      ASSERT_EQ(parsed.error, "");
      ASSERT_TRUE(parsed.complete);
      ASSERT_EQ(parsed.actions, plan);
      ASSERT_EQ(parsed.separators, separators);
      for (std::size_t length = 0; i == 0 && length < text.size(); ++length) {
        const PlanSpelling::Parsed begun = spelling->parse(std::string_view(text).substr(0, length));
        ASSERT_EQ(begun.error, "");
        ASSERT_FALSE(begun.complete);
      }
      for (int j = 0; j < 20; ++j) {
        const std::string changed = mutated(text, random);
        const PlanSpelling::Parsed read = spelling->parse(changed);
        ASSERT_LE(read.bytes_read, changed.size());
        ASSERT_EQ(read.error.empty(), read.bytes_read == changed.size());
        const PlanSpelling::Parsed in_parts = parse_in_parts(*spelling, changed, random);
        ASSERT_EQ(in_parts.actions, read.actions);
        ASSERT_EQ(in_parts.bytes_read, read.bytes_read);
        ASSERT_EQ(in_parts.complete, read.complete);
        if (!read.complete) continue;
        ++still_plans;
        const std::string again = spelling->render(read.actions, read.separators);
        ASSERT_TRUE(changed.starts_with(again));
        ASSERT_EQ(changed.find_first_not_of(" \t\r\n", again.size()), std::string::npos);
      }
    }
  }
  EXPECT_GT(formats, testing::repeats(500));
  EXPECT_GT(still_plans, testing::repeats(500));
}

TEST(FormatProperty, TheTrieAgreesWithAMap) {
  Random random(4);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> texts;
    const std::size_t count = 1 + random.below(12);
    for (std::size_t i = 0; i < count; ++i) texts.push_back(random.text(std::string_view("ab\0\xff", 4), 0, 5));
    text::ItemTrie trie;
    const auto same = trie.build(texts);
    std::map<std::string, std::uint32_t> items;
    bool duplicate = false;
    for (std::uint32_t i = 0; i < texts.size(); ++i) duplicate = !items.emplace(texts[i], i).second || duplicate;
    ASSERT_EQ(same.has_value(), duplicate);
    if (same) {
      ASSERT_EQ(texts[same->first], texts[same->second]);
      ASSERT_LT(same->first, same->second);
      continue;
    }
    for (int i = 0; i < 50; ++i) {
      const std::string text = random.text(std::string_view("ab\0\xff", 4), 0, 6);
      std::optional<text::ItemTrie::Position> at = text::ItemTrie::root();
      for (std::size_t j = 0; j < text.size() && at; ++j) at = trie.step(*at, text[j]);
      bool begins = false;
      bool longer = false;
      for (const std::string& item : texts) {
        begins = begins || item.starts_with(text);
        longer = longer || (item.starts_with(text) && item.size() > text.size());
      }
      ASSERT_EQ(at.has_value(), begins);
      if (!at) continue;
      const auto item = items.find(text);
      ASSERT_EQ(trie.item(*at), item == items.end() ? text::ItemTrie::kNone : item->second);
      ASSERT_EQ(trie.has_longer(*at), longer);
      ASSERT_TRUE(texts[trie.example(*at)].starts_with(text));
      if (item != items.end()) {
        ASSERT_EQ(trie.end_of(item->second).node, at->node);
      }
    }
  }
}

}  // namespace
}  // namespace metactrl::format_property_test
