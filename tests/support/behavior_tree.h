// A small reader and ticker of behavior trees, for the XML that the library exports: Sequence, Fallback, Parallel,
// Inverter, AlwaysSuccess, AlwaysFailure, and leaves that the file's TreeNodesModel declares.
//
// It is as strict as it can be. The XML must be well formed (by a reader of its own, without a package); ids, ports and
// names must be those that BehaviorTree.CPP 4 accepts; a leaf must have exactly the ports of its declaration. Sequences
// and Fallbacks go on where they stopped while a child is running, as theirs do.
#ifndef METACTRL_TESTS_SUPPORT_BEHAVIOR_TREE_H_
#define METACTRL_TESTS_SUPPORT_BEHAVIOR_TREE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metactrl::testing {

struct XmlElement {
  std::string tag;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;

  // Null when there is none.
  const std::string* attribute(const std::string& name) const;
};

// The root element. Throws std::runtime_error with the line for everything that is not well-formed XML.
XmlElement parse_xml(std::string_view text);

enum class TickStatus { kSuccess, kFailure, kRunning };

using Ports = std::vector<std::pair<std::string, std::string>>;  // in the order of the declaration

// What the leaves ask and do.
class TreeWorld {
 public:
  virtual ~TreeWorld() = default;
  virtual bool holds(const std::string& fact) = 0;
  virtual TickStatus execute(const std::string& id, const Ports& ports) = 0;
};

class BehaviorTree {
 public:
  // Throws std::runtime_error for what BehaviorTree.CPP would not load.
  explicit BehaviorTree(std::string_view xml);

  struct Outcome {
    bool success = false;
    std::size_t ticks = 0;    // of the root
    std::size_t actions = 0;  // carried out with success
    std::string step;         // name of the child of the main Sequence that failed
    std::string leaf;         // tag of the leaf that made it fail
    std::string detail;       // its fact, or its name
  };
  // Ticks the root until it is not running any more.
  Outcome run(TreeWorld& world);

  const std::map<std::string, std::vector<std::string>>& actions() const { return actions_; }
  const std::string& main_tree() const { return main_; }

 private:
  struct Node {
    const XmlElement* element = nullptr;
    std::vector<Node> children;
    std::size_t current = 0;             // of a Sequence or Fallback that is running
    std::optional<TickStatus> finished;  // as a child of a Parallel that is running
  };

  void read_model(const XmlElement& model);
  void check_element(const XmlElement& element) const;
  Node build(const XmlElement& element) const;
  TickStatus tick(Node& node, TreeWorld& world, Outcome& outcome);
  TickStatus tick_in_order(Node& node, TreeWorld& world, Outcome& outcome, TickStatus go_on);
  TickStatus tick_parallel(Node& node, TreeWorld& world, Outcome& outcome);
  TickStatus tick_leaf(Node& node, TreeWorld& world, Outcome& outcome);

  XmlElement root_;
  std::string main_;
  std::map<std::string, std::vector<std::string>> actions_;     // id -> ports
  std::map<std::string, std::vector<std::string>> conditions_;  // id -> ports
  Node tree_;
};

}  // namespace metactrl::testing

#endif  // METACTRL_TESTS_SUPPORT_BEHAVIOR_TREE_H_
