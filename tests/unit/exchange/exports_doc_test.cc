// The examples of docs/exports.md. Fenced blocks are read in order:
//
//     pddl          the domain, then the problem
//     plan          the plan that the following blocks write
//     xml           that plan as a behavior tree; it is also run
//     text pddl     that plan as lines
//     text plansys2 the same for PlanSys2
//     json          the same as JSON
//     pddl exported the domain as it is written
//     sh            commands, run from a folder in which `domains` is the one of the source tree
//     cpp           not run: a sketch of the robot's side
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "metactrl/domain.h"
#include "metactrl/exchange/export.h"
#include "support/behavior_tree.h"
#include "support/lifted_world.h"
#include "support/test_data.h"

namespace metactrl::exports_doc_test {
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

class Document {
 public:
  Document() : folder_(std::filesystem::temp_directory_path() / ("metactrl_exports_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    std::filesystem::create_directory_symlink(testing::source_dir() / "domains", folder_ / "domains");
  }
  ~Document() { std::filesystem::remove_all(folder_); }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  void take(const Block& block) {
    SCOPED_TRACE("docs/exports.md:" + std::to_string(block.line));
    if (block.kind == "pddl") {
      pddl_.push_back(block.text);
      if (pddl_.size() == 2) task_ = load_pddl_text(pddl_[0], pddl_[1]);
    } else if (block.kind == "plan") {
      plan_ = parse_plan(block.text, "plan");
      EXPECT_TRUE(task_->validate(plan_).valid) << task_->validate(plan_).reason;
    } else if (block.kind == "xml") {
      EXPECT_EQ(behavior_tree_xml(*task_, plan_), block.text);
      testing::BehaviorTree tree(block.text);
      testing::LiftedWorld world(testing::lifted_interpreter(pddl_[0], pddl_[1]));
      EXPECT_TRUE(tree.run(world).success);
    } else if (block.kind == "text pddl") {
      EXPECT_EQ(pddl_plan(*task_, plan_), block.text);
    } else if (block.kind == "text plansys2") {
      EXPECT_EQ(plansys2_plan(plan_), block.text);
    } else if (block.kind == "json") {
      EXPECT_EQ(plan_json(*task_, plan_), block.text);
    } else if (block.kind == "pddl exported") {
      EXPECT_EQ(pddl_task(*task_).domain, block.text);
    } else if (block.kind == "sh") {
      run(block.text);
    } else {
      EXPECT_EQ(block.kind, "cpp") << "what is a block '" << block.kind << "'?";
    }
    ++blocks_;
  }
  int blocks() const { return blocks_; }

 private:
  void run(const std::string& commands) {
    const std::string programs = std::filesystem::path(testing::program()).parent_path().string();
    std::ofstream(folder_ / "script") << "set -e\ncd '" << folder_.string() << "'\nPATH='" << programs
                                      << "':\"$PATH\"\n"
                                      << commands;
    EXPECT_EQ(std::system(("bash '" + (folder_ / "script").string() + "' >/dev/null").c_str()), 0) << commands;
  }

  std::filesystem::path folder_;
  std::vector<std::string> pddl_;
  std::optional<Task> task_;
  std::vector<PlanStep> plan_;
  int blocks_ = 0;
};

TEST(ExportsDocument, ExamplesAreTrue) {
  Document document;
  for (const Block& block : blocks_of(testing::source_dir() / "docs" / "exports.md")) document.take(block);
  EXPECT_GE(document.blocks(), 10);
}

}  // namespace
}  // namespace metactrl::exports_doc_test
