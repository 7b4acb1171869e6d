// The examples of docs/formats.md. Fenced blocks are read in order:
//
//     pddl          the domain, then the problem
//     plan          the plan that the following blocks write
//     text NAME     that plan in the built-in format NAME
//     format        a declaration; the next block is one of
//       text        the plan in this format
//       error       what is said about the format
//
// A text of one line may be broken in the document; a line break and the blanks behind it count as one blank.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "metactrl/format.h"
#include "support/test_data.h"

namespace metactrl::formats_doc_test {
namespace {

struct Block {
  std::string kind;
  std::string text;
  int line = 0;
};

std::vector<Block> blocks_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<Block> blocks;
  bool inside = false;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.starts_with("```")) {
      if (!inside) blocks.push_back({line.substr(3), "", number});
      inside = !inside;
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

std::string without_last_line_break(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string on_one_line(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  std::string line;
  while (std::getline(in, line)) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    if (!out.empty()) out += ' ';
    out += line.substr(begin);
  }
  return out;
}

class Document {
 public:
  void take(const Block& block) {
    SCOPED_TRACE("docs/formats.md:" + std::to_string(block.line));
    if (block.kind == "pddl") {
      if (pddl_.size() == 2) pddl_.clear();  // another task
      pddl_.push_back(block.text);
      if (pddl_.size() == 2) task_ = load_pddl_text(pddl_[0], pddl_[1]);
    } else if (block.kind == "plan") {
      plan_.clear();
      for (const PlanStep& step : parse_plan(block.text, "plan")) {
        const std::optional<ActionId> action = task_->find(step);
        ASSERT_TRUE(action) << to_string(step);
        plan_.push_back(*action);
      }
      EXPECT_TRUE(task_->validate(plan_).valid);
    } else if (block.kind == "format") {
      declaration_ = block.text;
    } else if (block.kind == "error") {
      check_error(block.text);
    } else if (block.kind == "text") {
      check_text(PlanFormat::parse(declaration_, "own.format"), block.text);
    } else if (block.kind.starts_with("text ")) {
      builtins_.push_back(block.kind.substr(5));
      check_text(PlanFormat::builtin(builtins_.back()), block.text);
    } else {
      FAIL() << "what is a block '" << block.kind << "'?";
    }
    ++blocks_;
  }

  const std::vector<std::string>& builtins() const { return builtins_; }
  int blocks() const { return blocks_; }

 private:
  void check_text(PlanFormat format, const std::string& expected) {
    const PlanSpelling spelling(std::move(format), *task_);
    const std::string text = spelling.render(plan_);
    EXPECT_TRUE(spelling.parse(text).complete);
    EXPECT_EQ(spelling.parse(text).actions, plan_);
    const std::string wanted = without_last_line_break(expected);
    if (text.find('\n') == std::string::npos) {
      EXPECT_EQ(text, on_one_line(wanted));
    } else {
      EXPECT_EQ(without_last_line_break(text), wanted);
    }
  }

  void check_error(const std::string& expected) {
    try {
      const PlanSpelling spelling(PlanFormat::parse(declaration_, "own.format"), *task_);
      FAIL() << "the format is accepted";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(without_last_line_break(expected)), std::string::npos) << error.what();
    }
  }

  std::vector<std::string> pddl_;
  std::optional<Task> task_;
  std::vector<ActionId> plan_;
  std::string declaration_;
  std::vector<std::string> builtins_;
  int blocks_ = 0;
};

TEST(FormatsDocument, ExamplesAreTrue) {
  Document document;
  for (const Block& block : blocks_of(testing::source_dir() / "docs" / "formats.md")) document.take(block);
  EXPECT_GE(document.blocks(), 18);
  std::vector<std::string> builtins = document.builtins();
  std::sort(builtins.begin(), builtins.end());
  EXPECT_EQ(builtins, PlanFormat::builtin_names()) << "each format that ships has an example";
}

TEST(FormatsDocument, NamesEveryKey) {
  std::ifstream in(testing::source_dir() / "docs" / "formats.md");
  std::stringstream text;
  text << in.rdbuf();
  for (const std::string key :
       {"name", "open", "close", "separator", "empty", "prefix", "item", "item /N", "item NAME", "argument",
        "argument-separator", "id-separator", "action NAME", "object NAME", "case", "hyphen", "escape"}) {
    EXPECT_NE(text.str().find("\n| `" + key + "` | "), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace metactrl::formats_doc_test
