// tau: from text to actions, byte by byte.
//
// The reader keeps every way in which the text so far can be the beginning of a plan. At the start there are two, the
// opening and the text of the empty plan. Inside an item there is one place in the trie and, for each shorter item that
// ended on the way, the separators and closing that agree with what followed. Because the words (item + separator or
// closing) are a prefix-free code, the first way that reaches its end is the only one left that can: the action is
// certain and the others are dropped. When no way is left, what the last ones would have accepted is what was expected.
//
// Where the closing is empty, the text is a plan whenever an item has just ended. The item's action is then put among
// the results and taken out again when more text comes.
#include <algorithm>
#include <utility>

#include "support/str_cat.h"
#include "text/plan_reader.h"
#include "text/quote.h"
#include "text/spelling_tables.h"

namespace metactrl {

namespace text {

using internal::str_cat;

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

PlanReader::PlanReader(const PlanSpelling& spelling) : spelling_(&spelling) {
  next_.push_back({Way::In::kEmpty, 0, 0, 0});
  if (spelling.num_actions() > 0) {
    if (spelling.tables_->opening.empty()) {
      enter_items();
    } else {
      next_.push_back({Way::In::kOpening, 0, 0, 0});
    }
  }
  ways_.swap(next_);
  settle(false);
}

bool PlanReader::read(std::string_view part) {
  if (!result_.error.empty()) return false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (closed_ ? !is_blank(part[i]) : !step(part[i])) {
      fail(part.substr(i));
      return false;
    }
    ++result_.bytes_read;
  }
  return true;
}

bool PlanReader::step(char byte) {
  if (!spelling_->format_.close.empty()) return take(byte);
  const bool was_ended = ended_ && is_blank(byte);
  if (std::exchange(assumed_, false)) result_.actions.pop_back();
  result_.complete = false;
  ended_ = false;
  const bool taken = take(byte);
  if (!taken && was_ended) closed_ = true;  // nothing but blanks may follow
  if (taken || was_ended) settle(was_ended);
  return taken || was_ended;
}

// With an empty closing: is the text a plan now? `was_ended`: it was one, and a blank has followed.
void PlanReader::settle(bool was_ended) {
  if (!spelling_->format_.close.empty()) return;
  for (const Way& way : ways_) {
    if (closed_) break;
    if (way.in == Way::In::kEmpty && way.offset == spelling_->format_.empty.size()) {
      ended_ = true;
      ended_size_ = 0;
    } else if (way.in == Way::In::kItem) {
      const std::uint32_t action = spelling_->tables_->items.item({way.node, way.offset});
      if (action == ItemTrie::kNone) continue;
      ended_ = true;
      ended_size_ = result_.actions.size() + 1;
      ended_action_ = static_cast<ActionId>(action);
    }
  }
  ended_ = ended_ || was_ended;
  if (!ended_) return;
  result_.complete = true;
  if (result_.actions.size() >= ended_size_) return;
  result_.actions.push_back(ended_action_);
  assumed_ = true;
}

bool PlanReader::take(char byte) {
  next_.clear();
  const std::size_t actions = result_.actions.size();
  for (const Way& way : ways_) {
    advance(way, byte);
    if (closed_ || result_.actions.size() > actions) break;
  }
  if (next_.empty() && !closed_) return false;
  ways_.swap(next_);
  return true;
}

std::string_view PlanReader::literal(const Way& way) const {
  switch (way.in) {
    case Way::In::kOpening:
      return spelling_->tables_->opening;
    case Way::In::kEmpty:
      return spelling_->format_.empty;
    case Way::In::kPrefix:
      return prefix_;
    case Way::In::kEnd:
      return spelling_->tables_->ends[way.end];
    case Way::In::kItem:
      break;
  }
  return {};
}

// Adds to next_ what `way` becomes when `byte` is read.
void PlanReader::advance(const Way& way, char byte) {
  if (way.in == Way::In::kItem) {
    if (const auto at = spelling_->tables_->items.step({way.node, way.offset}, byte)) add_item(at->node, at->depth);
    return;
  }
  const std::string_view expected = literal(way);
  if (way.offset == expected.size() || expected[way.offset] != byte) return;
  if (way.offset + 1 < expected.size()) {
    next_.push_back({way.in, way.node, way.end, way.offset + 1});
    return;
  }
  switch (way.in) {
    case Way::In::kOpening:
    case Way::In::kPrefix:
      enter_items();
      break;
    case Way::In::kEmpty:
      if (spelling_->format_.close.empty()) {
        next_.push_back({way.in, way.node, way.end, way.offset + 1});
        break;
      }
      next_.clear();
      closed_ = true;
      result_.complete = true;
      break;
    case Way::In::kEnd:
      finish_action(way);
      break;
    case Way::In::kItem:
      break;
  }
}

void PlanReader::enter_items() { add_item(ItemTrie::root().node, ItemTrie::root().depth); }

void PlanReader::add_item(std::uint32_t node, std::uint32_t depth) {
  const PlanSpelling::Tables& tables = *spelling_->tables_;
  next_.push_back({Way::In::kItem, node, 0, depth});
  const std::uint32_t action = tables.items.item({node, depth});
  if (action == ItemTrie::kNone) return;
  for (std::uint32_t end = 0; end < tables.ends.size(); ++end) {
    if (!tables.ends[end].empty()) next_.push_back({Way::In::kEnd, action, end, 0});
  }
}

void PlanReader::finish_action(const Way& way) {
  next_.clear();
  result_.actions.push_back(static_cast<ActionId>(way.node));
  if (way.end + 1 == spelling_->tables_->ends.size()) {
    closed_ = true;
    result_.complete = true;
    return;
  }
  result_.separators.push_back(way.end);
  begin_item(result_.actions.size() + 1);
}

void PlanReader::begin_item(std::size_t index) {
  prefix_ = spelling_->prefix(index);
  if (prefix_.empty()) {
    enter_items();
  } else {
    next_.push_back({Way::In::kPrefix, 0, 0, 0});
  }
}

std::string PlanReader::expectation() const {
  constexpr std::size_t kMaxShown = 6;
  constexpr std::size_t kMaxBytes = 24;
  std::vector<std::string_view> expected;
  for (const Way& way : ways_) {
    if (way.in == Way::In::kItem) {
      spelling_->tables_->items.continuations({way.node, way.offset}, expected);
    } else if (way.offset < literal(way).size()) {
      expected.push_back(literal(way).substr(way.offset));
    }
  }
  if (closed_ || expected.empty()) return "nothing more, the plan is complete";
  std::vector<std::string> shown;
  shown.reserve(expected.size());
  for (const std::string_view text : expected) shown.push_back(quote(text, kMaxBytes));
  std::sort(shown.begin(), shown.end());
  shown.erase(std::unique(shown.begin(), shown.end()), shown.end());
  const std::size_t count = std::min(shown.size(), kMaxShown);
  std::string out = count > 2 || count < shown.size() ? "one of " : "";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += i + 1 == count && count == shown.size() ? " or " : ", ";
    out += shown[i];
  }
  if (count < shown.size()) out += str_cat(" and ", shown.size() - count, " more");
  return out;
}

void PlanReader::fail(std::string_view rest) {
  constexpr std::size_t kMaxFound = 24;
  if (std::exchange(assumed_, false)) result_.actions.pop_back();
  const std::size_t actions = result_.actions.size();
  result_.complete = false;
  result_.error = str_cat("byte ", result_.bytes_read + 1, ": expected ", expectation(), ", found ",
                          quote(rest, kMaxFound), "; read ", actions, actions == 1 ? " action" : " actions");
}

}  // namespace text

PlanSpelling::Parsed PlanSpelling::parse(std::string_view text) const {
  text::PlanReader reader(*this);
  reader.read(text);
  return reader.result();
}

}  // namespace metactrl
