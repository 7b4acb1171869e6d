#include "support/behavior_tree.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <stdexcept>

namespace metactrl::testing {

namespace {

bool is_name_start(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }
bool is_name_part(char c) {
  return is_name_start(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.';
}

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : text_(text) {}

  XmlElement read() {
    const std::string_view declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    require(text_.starts_with(declaration), "the XML declaration is missing");
    at_ = declaration.size();
    skip_space_and_comments();
    XmlElement root = element(0);
    skip_space_and_comments();
    require(at_ == text_.size(), "there is something behind the root element");
    return root;
  }

 private:
  void require(bool condition, const std::string& message) const {
    if (condition) return;
    const auto line =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())), '\n') + 1;
    throw std::runtime_error("line " + std::to_string(line) + ": " + message);
  }
  bool looking_at(std::string_view what) const { return text_.substr(std::min(at_, text_.size())).starts_with(what); }
  void expect(std::string_view what) {
    require(looking_at(what), "expected '" + std::string(what) + "'");
    at_ += what.size();
  }
  bool skip_space() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return at_ > begin;
  }
  void skip_space_and_comments() {
    skip_space();
    while (looking_at("<!--")) {
      const std::size_t end = text_.find("--", at_ + 4);
      require(end != std::string_view::npos && text_.substr(end).starts_with("-->"), "a comment must not contain --");
      at_ = end + 3;
      skip_space();
    }
  }
  std::string name() {
    require(at_ < text_.size() && is_name_start(text_[at_]), "expected a name");
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string value() {
    expect("\"");
    std::string out;
    while (true) {
      require(at_ < text_.size(), "the attribute does not end");
      const char c = text_[at_];
      if (c == '"') break;
      require(c != '<' && static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a character that must be escaped");
      if (c == '&') {
        out += entity();
      } else {
        out += c;
        ++at_;
      }
    }
    ++at_;
    return out;
  }
  char entity() {
    static const std::map<std::string_view, char> kEntities = {{"&amp;", '&'},  {"&lt;", '<'},    {"&gt;", '>'},
                                                               {"&quot;", '"'}, {"&apos;", '\''}, {"&#9;", '\t'},
                                                               {"&#10;", '\n'}, {"&#13;", '\r'}};
    for (const auto& [text, c] : kEntities) {
      if (!looking_at(text)) continue;
      at_ += text.size();
      return c;
    }
    require(false, "an unknown entity");
    return 0;
  }
  XmlElement element(std::size_t depth) {
    require(depth < 256, "nested too deeply");
    expect("<");
    XmlElement out;
    out.tag = name();
    while (skip_space() && !looking_at("/") && !looking_at(">")) {
      std::string key = name();
      require(out.attribute(key) == nullptr, "the attribute " + key + " is there twice");
      expect("=");
      out.attributes.emplace_back(std::move(key), value());
    }
    if (looking_at("/>")) {
      at_ += 2;
      return out;
    }
    expect(">");
    skip_space_and_comments();
    while (!looking_at("</")) {
      out.children.push_back(element(depth + 1));
      skip_space_and_comments();
    }
    expect("</" + out.tag);
    skip_space();
    expect(">");
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

void require(bool condition, const std::string& message) {
  if (!condition) throw std::runtime_error(message);
}

const std::set<std::string> kControls = {"Sequence", "Fallback", "Parallel", "Inverter"};
const std::set<std::string> kBuiltinLeaves = {"AlwaysSuccess", "AlwaysFailure"};

// What BehaviorTree.CPP does not accept in names.
void check_name(const std::string& name, bool allow_blanks) {
  require(!name.empty(), "an empty name");
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool forbidden = byte < 0x20 || byte == 0x7f || std::string("<>&\"'/\\:*?|.").find(c) != std::string::npos ||
                           (c == ' ' && !allow_blanks);
    require(!forbidden, "forbidden character in the name " + name);
  }
}

void check_class_name(const std::string& id) {
  require(!id.empty() && std::isalpha(static_cast<unsigned char>(id[0])) != 0 &&
              std::all_of(id.begin(), id.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }),
          id + " is no class name");
  require(id != "Root" && id != "root" && !kControls.contains(id) && !kBuiltinLeaves.contains(id),
          id + " has a meaning of its own");
}

}  // namespace

const std::string* XmlElement::attribute(const std::string& name) const {
  for (const auto& [key, value] : attributes) {
    if (key == name) return &value;
  }
  return nullptr;
}

XmlElement parse_xml(std::string_view text) { return XmlReader(text).read(); }

BehaviorTree::BehaviorTree(std::string_view xml) : root_(parse_xml(xml)) {
  require(root_.tag == "root", "the root element is not <root>");
  const std::string* format = root_.attribute("BTCPP_format");
  require(format != nullptr && *format == "4", "BTCPP_format is not 4");
  const std::string* main = root_.attribute("main_tree_to_execute");
  require(main != nullptr, "main_tree_to_execute is missing");
  main_ = *main;
  check_class_name(main_);
  const XmlElement* tree = nullptr;
  const XmlElement* model = nullptr;
  for (const XmlElement& child : root_.children) {
    if (child.tag == "TreeNodesModel") {
      require(model == nullptr, "two TreeNodesModel");
      model = &child;
      continue;
    }
    require(child.tag == "BehaviorTree" && child.attribute("ID") != nullptr, "a BehaviorTree without ID");
    if (*child.attribute("ID") == main_) tree = &child;
  }
  require(model != nullptr && tree != nullptr, "the main tree or the model is missing");
  read_model(*model);
  require(tree->children.size() == 1, "a BehaviorTree has one child");
  tree_ = build(tree->children[0]);
}

void BehaviorTree::read_model(const XmlElement& model) {
  for (const XmlElement& node : model.children) {
    require(node.tag == "Action" || node.tag == "Condition", "the model declares a " + node.tag);
    const std::string* id = node.attribute("ID");
    require(id != nullptr, "a declaration without ID");
    check_class_name(*id);
    require(!actions_.contains(*id) && !conditions_.contains(*id), *id + " is declared twice");
    std::vector<std::string> ports;
    for (const XmlElement& port : node.children) {
      const std::string* name = port.attribute("name");
      require(port.tag == "input_port" && name != nullptr && port.attribute("type") != nullptr, "an odd port");
      check_name(*name, false);
      require(std::isalpha(static_cast<unsigned char>((*name)[0])) != 0 && *name != "name" && *name != "ID",
              *name + " cannot be a port");
      require(std::find(ports.begin(), ports.end(), *name) == ports.end(), *name + " is declared twice");
      ports.push_back(*name);
    }
    (node.tag == "Action" ? actions_ : conditions_)[*id] = std::move(ports);
  }
}

void BehaviorTree::check_element(const XmlElement& element) const {
  if (const std::string* name = element.attribute("name")) check_name(*name, true);
  if (kControls.contains(element.tag)) {
    require(!element.children.empty(), element.tag + " has no child");
    require(element.tag != "Inverter" || element.children.size() == 1, "an Inverter has one child");
    for (const auto& [key, value] : element.attributes) {
      require(key == "name" || (element.tag == "Parallel" && (key == "success_count" || key == "failure_count")),
              element.tag + " has no port " + key);
    }
    return;
  }
  require(element.children.empty(), element.tag + " has children");
  if (kBuiltinLeaves.contains(element.tag)) return;
  const auto action = actions_.find(element.tag);
  const auto condition = conditions_.find(element.tag);
  require(action != actions_.end() || condition != conditions_.end(), element.tag + " is not declared");
  const std::vector<std::string>& ports = action != actions_.end() ? action->second : condition->second;
  for (const std::string& port : ports) {
    const std::string* value = element.attribute(port);
    require(value != nullptr, element.tag + " lacks the port " + port);
    require(!(value->starts_with('{') && value->ends_with('}')), "a pointer into the blackboard: " + *value);
  }
  const std::size_t names = element.attribute("name") != nullptr ? 1 : 0;
  require(element.attributes.size() == ports.size() + names, element.tag + " has a port that is not declared");
}

BehaviorTree::Node BehaviorTree::build(const XmlElement& element) const {
  check_element(element);
  Node node;
  node.element = &element;
  for (const XmlElement& child : element.children) node.children.push_back(build(child));
  return node;
}

TickStatus BehaviorTree::tick_leaf(Node& node, TreeWorld& world, Outcome& outcome) {
  const XmlElement& element = *node.element;
  if (element.tag == "AlwaysSuccess") return TickStatus::kSuccess;
  TickStatus status = TickStatus::kFailure;
  std::string detail;
  if (const auto action = actions_.find(element.tag); action != actions_.end()) {
    Ports ports;
    for (const std::string& port : action->second) ports.emplace_back(port, *element.attribute(port));
    status = world.execute(element.tag, ports);
    if (status == TickStatus::kSuccess) ++outcome.actions;
  } else if (element.tag != "AlwaysFailure") {
    detail = *element.attribute("fact");
    status = world.holds(detail) ? TickStatus::kSuccess : TickStatus::kFailure;
  } else if (const std::string* name = element.attribute("name")) {
    detail = *name;
  }
  // The last leaf that was asked is the one that decides, under an Inverter as well.
  outcome.leaf = element.tag;
  outcome.detail = detail;
  return status;
}

TickStatus BehaviorTree::tick_in_order(Node& node, TreeWorld& world, Outcome& outcome, TickStatus go_on) {
  for (; node.current < node.children.size(); ++node.current) {
    const TickStatus status = tick(node.children[node.current], world, outcome);
    if (status == TickStatus::kRunning) return status;
    if (status == go_on) continue;
    const std::string* name = node.children[node.current].element->attribute("name");
    if (&node == &tree_ && status == TickStatus::kFailure) outcome.step = name == nullptr ? "" : *name;
    node.current = 0;
    return status;
  }
  node.current = 0;
  return go_on;
}

TickStatus BehaviorTree::tick_parallel(Node& node, TreeWorld& world, Outcome& outcome) {
  const std::size_t enough = std::stoul(*node.element->attribute("success_count"));
  const std::size_t too_many = std::stoul(*node.element->attribute("failure_count"));
  std::size_t successes = 0;
  std::size_t failures = 0;
  // Children that have finished are not ticked again.
  const auto finish = [&](TickStatus status) {
    for (Node& child : node.children) child.finished.reset();
    return status;
  };
  for (Node& child : node.children) {
    if (!child.finished) {
      const TickStatus status = tick(child, world, outcome);
      if (status == TickStatus::kRunning) continue;
      child.finished = status;
    }
    ++(*child.finished == TickStatus::kSuccess ? successes : failures);
    if (successes >= enough) return finish(TickStatus::kSuccess);
    if (failures >= too_many || node.children.size() - failures < enough) return finish(TickStatus::kFailure);
  }
  require(successes + failures < node.children.size(), "a Parallel that neither succeeds nor fails");
  return TickStatus::kRunning;
}

TickStatus BehaviorTree::tick(Node& node, TreeWorld& world, Outcome& outcome) {
  const std::string& tag = node.element->tag;
  if (tag == "Sequence") return tick_in_order(node, world, outcome, TickStatus::kSuccess);
  if (tag == "Fallback") return tick_in_order(node, world, outcome, TickStatus::kFailure);
  if (tag == "Parallel") return tick_parallel(node, world, outcome);
  if (tag == "Inverter") {
    const TickStatus status = tick(node.children[0], world, outcome);
    if (status == TickStatus::kRunning) return status;
    return status == TickStatus::kSuccess ? TickStatus::kFailure : TickStatus::kSuccess;
  }
  return tick_leaf(node, world, outcome);
}

BehaviorTree::Outcome BehaviorTree::run(TreeWorld& world) {
  Outcome outcome;
  TickStatus status = TickStatus::kRunning;
  while (status == TickStatus::kRunning) {
    status = tick(tree_, world, outcome);
    ++outcome.ticks;
    require(outcome.ticks < 1'000'000, "the tree never ends");
  }
  outcome.success = status == TickStatus::kSuccess;
  return outcome;
}

}  // namespace metactrl::testing
