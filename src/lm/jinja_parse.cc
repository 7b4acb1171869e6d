// Recursive descent, one function for each level of precedence. A tree that is too deep is refused while it is built, so
// that neither building, running nor freeing it needs much stack, whatever a file holds.
#include "lm/jinja_parse.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "lm/jinja_lex.h"
#include "support/str_cat.h"

namespace metactrl::lm::jinja {

namespace {

using internal::str_cat;

constexpr std::size_t kLongestTemplate = std::size_t{256} << 10U;
constexpr std::uint32_t kDeepestTree = 200;

class Parser {
 public:
  explicit Parser(std::vector<Word> words) : words_(std::move(words)) {}

  Node whole() {
    Node block = body({});
    if (word().kind != WordKind::kEnd) fail("this tag ends nothing: " + word().text);
    return block;
  }

  Node single() {
    Node node = expression();
    if (word().kind != WordKind::kEnd) fail("unexpected '" + word().text + "'");
    return node;
  }

 private:
  // Calls that are open: each level of the text takes a dozen of the stack.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (++parser_.level_ > 100) parser_.fail("nested too deeply");
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser_.level_; }

   private:
    Parser& parser_;
  };

  [[noreturn]] void fail(const std::string& what) const { throw Error(str_cat("line ", word().line, ": ", what)); }

  const Word& word(std::size_t ahead = 0) const { return words_[std::min(at_ + ahead, words_.size() - 1)]; }
  bool is_operator(std::string_view text) const { return word().kind == WordKind::kOperator && word().text == text; }
  bool is_name(std::string_view text, std::size_t ahead = 0) const {
    return word(ahead).kind == WordKind::kName && word(ahead).text == text;
  }
  bool take_operator(std::string_view text) {
    const bool found = is_operator(text);
    if (found) ++at_;
    return found;
  }
  bool take_name(std::string_view text) {
    const bool found = is_name(text);
    if (found) ++at_;
    return found;
  }
  void expect_operator(std::string_view text) {
    if (!take_operator(text)) fail(str_cat("'", text, "' is missing before '", word().text, "'"));
  }
  void expect(WordKind kind, const char* what) {
    if (word().kind != kind) fail(str_cat(what, " is missing before '", word().text, "'"));
    ++at_;
  }
  std::string name() {
    if (word().kind != WordKind::kName) fail(str_cat("a name is missing before '", word().text, "'"));
    return words_[at_++].text;
  }

  Node make(NodeKind kind, std::string text = {}) const {
    Node node;
    node.kind = kind;
    node.line = word().line;
    node.text = std::move(text);
    return node;
  }
  void add(Node& node, Node kid) const {
    node.depth = std::max(node.depth, kid.depth + 1);
    if (node.depth > kDeepestTree) fail("nested too deeply");
    node.kids.push_back(std::move(kid));
  }
  template <typename... Kids>
  Node join(NodeKind kind, std::string text, Kids&&... kids) const {
    Node node = make(kind, std::move(text));
    (add(node, std::forward<Kids>(kids)), ...);
    return node;
  }

  // --- statements ----------------------------------------------------------------------------------------------------

  // Up to a block that begins with one of `ends`, which is not taken.
  Node body(std::initializer_list<std::string_view> ends) {
    const Level level(*this);
    Node block = make(NodeKind::kBlock);
    while (word().kind != WordKind::kEnd) {
      if (word().kind == WordKind::kData) {
        add(block, make(NodeKind::kData, word().text));
        ++at_;
      } else if (word().kind == WordKind::kPrintBegin) {
        ++at_;
        add(block, join(NodeKind::kPrint, {}, tuple()));
        expect(WordKind::kPrintEnd, "'}}'");
      } else {
        const bool ends_here = std::any_of(ends.begin(), ends.end(), [&](auto end) { return is_name(end, 1); });
        if (ends_here) return block;
        ++at_;
        statement(block);
      }
    }
    if (ends.size() > 0) fail(str_cat("{% ", *ends.begin(), " %} is missing"));
    return block;
  }

  void end_block() { expect(WordKind::kBlockEnd, "'%}'"); }

  // The end tag itself.
  void end_tag(std::string_view text) {
    expect(WordKind::kBlockBegin, "a tag");
    if (!take_name(text)) fail(str_cat("{% ", text, " %} is missing"));
    while (word().kind == WordKind::kName) ++at_;
    end_block();
  }

  void statement(Node& block) {
    const std::string what = name();
    if (what == "if") {
      add(block, if_statement());
    } else if (what == "for") {
      add(block, for_statement());
    } else if (what == "set") {
      add(block, set_statement());
    } else if (what == "macro") {
      add(block, macro_statement());
    } else if (what == "call") {
      add(block, call_statement());
    } else if (what == "filter") {
      add(block, filter_statement());
    } else if (what == "generation") {
      end_block();
      add(block, body({"endgeneration"}));
      end_tag("endgeneration");
    } else if (what == "break" || what == "continue") {
      add(block, make(what == "break" ? NodeKind::kBreak : NodeKind::kContinue));
      end_block();
    } else {
      fail(str_cat("{% ", what, " %} is not understood"));
    }
  }

  Node if_statement() {
    Node node = make(NodeKind::kIf);
    add(node, tuple());
    end_block();
    while (true) {
      add(node, body({"endif", "elif", "else"}));
      if (is_name("endif", 1)) break;
      at_ += 2;
      if (is_name_before("else")) {
        end_block();
        add(node, body({"endif"}));
        break;
      }
      add(node, tuple());
      end_block();
    }
    end_tag("endif");
    return node;
  }
  bool is_name_before(std::string_view text) const { return words_[at_ - 1].text == text; }

  Node for_statement() {
    Node node = make(NodeKind::kFor);
    add(node, targets());
    if (!take_name("in")) fail("'in' is missing");
    add(node, either());
    add(node, take_name("if") ? expression() : make(NodeKind::kNothing));
    if (is_name("recursive")) fail("recursive loops are not understood");
    end_block();
    add(node, body({"endfor", "else"}));
    if (is_name("else", 1)) {
      at_ += 2;
      end_block();
      add(node, body({"endfor"}));
    } else {
      add(node, make(NodeKind::kNothing));
    }
    end_tag("endfor");
    return node;
  }

  // "x", "x, y" or "space.x"
  Node targets() {
    Node first = target();
    if (!is_operator(",")) return first;
    Node node = make(NodeKind::kTuple);
    add(node, std::move(first));
    while (take_operator(",")) add(node, target());
    return node;
  }
  Node target() {
    if (take_operator("(")) {
      Node node = targets();
      expect_operator(")");
      return node;
    }
    Node node = make(NodeKind::kName, name());
    while (take_operator(".")) node = join(NodeKind::kAttribute, name(), std::move(node));
    return node;
  }

  Node set_statement() {
    Node where = targets();
    if (take_operator("=")) {
      Node node = join(NodeKind::kSet, {}, std::move(where), tuple());
      end_block();
      return node;
    }
    Node piped = pipes(make(NodeKind::kPiped));
    end_block();
    Node node = join(NodeKind::kSetBlock, {}, std::move(where), std::move(piped), body({"endset"}));
    end_tag("endset");
    return node;
  }

  void parameters(Node& node) {
    if (!take_operator("(")) return;
    while (!take_operator(")")) {
      Node parameter = make(NodeKind::kParameter, name());
      if (take_operator("=")) add(parameter, expression());
      add(node, std::move(parameter));
      if (!is_operator(")")) expect_operator(",");
    }
  }

  Node macro_statement() {
    Node node = make(NodeKind::kMacro, name());
    Node given = make(NodeKind::kBlock);
    parameters(given);
    end_block();
    add(node, body({"endmacro"}));
    for (Node& parameter : given.kids) add(node, std::move(parameter));
    end_tag("endmacro");
    return node;
  }

  Node call_statement() {
    Node node = make(NodeKind::kCall);
    Node given = make(NodeKind::kBlock);
    parameters(given);
    Node call = expression();
    if (call.kind != NodeKind::kInvoke) fail("{% call %} calls nothing");
    end_block();
    add(node, std::move(call));
    add(node, body({"endcall"}));
    for (Node& parameter : given.kids) add(node, std::move(parameter));
    end_tag("endcall");
    return node;
  }

  Node filter_statement() {
    Node piped = pipe_named(make(NodeKind::kPiped));
    piped = pipes(std::move(piped));
    end_block();
    Node node = join(NodeKind::kFilter, {}, std::move(piped), body({"endfilter"}));
    end_tag("endfilter");
    return node;
  }

  // --- expressions ---------------------------------------------------------------------------------------------------

  // "a, b" is a tuple where a whole tag is an expression.
  Node tuple() {
    Node first = expression();
    if (!is_operator(",")) return first;
    Node node = make(NodeKind::kList);
    add(node, std::move(first));
    while (take_operator(",")) {
      if (word().kind == WordKind::kPrintEnd || word().kind == WordKind::kBlockEnd) break;
      add(node, expression());
    }
    return node;
  }

  Node expression() {
    const Level level(*this);
    Node node = either();
    while (take_name("if")) {
      Node condition = either();
      Node otherwise = take_name("else") ? expression() : make(NodeKind::kNothing);
      node = join(NodeKind::kEither, {}, std::move(condition), std::move(node), std::move(otherwise));
    }
    return node;
  }

  Node either() {
    Node node = both();
    while (take_name("or")) node = join(NodeKind::kOr, {}, std::move(node), both());
    return node;
  }

  Node both() {
    Node node = negation();
    while (take_name("and")) node = join(NodeKind::kAnd, {}, std::move(node), negation());
    return node;
  }

  Node negation() {
    if (!is_name("not")) return comparison();
    const Level level(*this);
    ++at_;
    return join(NodeKind::kNot, {}, negation());
  }

  Node comparison() {
    Node first = sum();
    std::string operators;
    std::vector<Node> more;
    while (true) {
      std::string found;
      if (word().kind == WordKind::kOperator) {
        for (const std::string_view one : {"==", "!=", "<", ">", "<=", ">="}) {
          if (word().text == one) found = one;
        }
        if (!found.empty()) ++at_;
      } else if (take_name("in")) {
        found = "in";
      } else if (is_name("not") && is_name("in", 1)) {
        at_ += 2;
        found = "notin";
      }
      if (found.empty()) break;
      operators += found + " ";
      more.push_back(sum());
    }
    if (more.empty()) return first;
    Node node = make(NodeKind::kCompare, operators);
    add(node, std::move(first));
    for (Node& operand : more) add(node, std::move(operand));
    return node;
  }

  template <typename Operand>
  Node chain(std::initializer_list<std::string_view> operators, const Operand& operand) {
    Node node = operand();
    while (word().kind == WordKind::kOperator &&
           std::find(operators.begin(), operators.end(), word().text) != operators.end()) {
      const std::string text = words_[at_++].text;
      node = join(NodeKind::kBinary, text, std::move(node), operand());
    }
    return node;
  }

  Node sum() {
    return chain({"+", "-"}, [this] { return concatenation(); });
  }
  Node concatenation() {
    return chain({"~"}, [this] { return product(); });
  }
  Node product() {
    return chain({"*", "/", "//", "%"}, [this] { return power(); });
  }
  Node power() {
    return chain({"**"}, [this] { return signed_value(true); });
  }

  Node signed_value(bool with_pipes) {
    const Level level(*this);
    Node node;
    if (take_operator("-")) {
      node = join(NodeKind::kNegative, {}, signed_value(false));
    } else if (take_operator("+")) {
      node = signed_value(false);
    } else {
      node = primary();
    }
    node = postfix(std::move(node));
    return with_pipes ? pipes(std::move(node)) : node;
  }

  Node literal(Value value) const {
    Node node = make(NodeKind::kLiteral);
    node.value = std::move(value);
    return node;
  }

  Node number_literal(const Word& number) const {
    if (number.kind == WordKind::kFloat) {
      double value = 0;
      std::from_chars(number.text.data(), number.text.data() + number.text.size(), value);
      return literal(Value::number(value));
    }
    std::int64_t value = 0;
    const auto read = std::from_chars(number.text.data(), number.text.data() + number.text.size(), value);
    if (read.ec != std::errc()) fail("a number is too large");
    return literal(Value::number(value));
  }

  Node primary() {
    const Word here = word();
    switch (here.kind) {
      case WordKind::kName:
        ++at_;
        if (here.text == "true" || here.text == "True") return literal(Value::boolean(true));
        if (here.text == "false" || here.text == "False") return literal(Value::boolean(false));
        if (here.text == "none" || here.text == "None" || here.text == "null") return literal(Value::none());
        return make(NodeKind::kName, here.text);
      case WordKind::kString: {
        std::string text;
        while (word().kind == WordKind::kString) text += words_[at_++].text;
        return literal(Value::string(std::move(text)));
      }
      case WordKind::kInteger:
      case WordKind::kFloat:
        ++at_;
        return number_literal(here);
      default:
        break;
    }
    if (take_operator("(")) return in_parentheses();
    if (take_operator("[")) {
      Node node = make(NodeKind::kList);
      while (!take_operator("]")) {
        add(node, expression());
        if (!is_operator("]")) expect_operator(",");
      }
      return node;
    }
    if (take_operator("{")) {
      Node node = make(NodeKind::kDict);
      while (!take_operator("}")) {
        add(node, expression());
        expect_operator(":");
        add(node, expression());
        if (!is_operator("}")) expect_operator(",");
      }
      return node;
    }
    fail(here.text.empty() ? std::string("an expression is missing") : "unexpected '" + here.text + "'");
  }

  Node in_parentheses() {
    if (take_operator(")")) return make(NodeKind::kList);
    Node node = expression();
    if (is_operator(",")) {
      Node list = make(NodeKind::kList);
      add(list, std::move(node));
      while (take_operator(",")) {
        if (!is_operator(")")) add(list, expression());
      }
      node = std::move(list);
    }
    expect_operator(")");
    return node;
  }

  Node postfix(Node node) {
    while (true) {
      if (take_operator(".")) {
        if (word().kind == WordKind::kInteger) {
          Node index = number_literal(words_[at_++]);
          node = join(NodeKind::kItem, {}, std::move(node), std::move(index));
        } else {
          node = join(NodeKind::kAttribute, name(), std::move(node));
        }
      } else if (take_operator("[")) {
        node = subscript(std::move(node));
      } else if (take_operator("(")) {
        Node call = join(NodeKind::kInvoke, {}, std::move(node));
        arguments(call);
        node = std::move(call);
      } else {
        return node;
      }
    }
  }

  Node subscript(Node node) {
    const auto part = [this] { return is_operator(":") || is_operator("]") ? make(NodeKind::kNothing) : expression(); };
    Node begin = part();
    if (!is_operator(":")) {
      if (begin.kind == NodeKind::kNothing) fail("an index is missing");
      expect_operator("]");
      return join(NodeKind::kItem, {}, std::move(node), std::move(begin));
    }
    ++at_;
    Node end = part();
    Node step = take_operator(":") ? part() : make(NodeKind::kNothing);
    expect_operator("]");
    return join(NodeKind::kSlice, {}, std::move(node), std::move(begin), std::move(end), std::move(step));
  }

  // Behind the opening bracket.
  void arguments(Node& call) {
    while (!take_operator(")")) {
      if (word().kind == WordKind::kName && word(1).kind == WordKind::kOperator && word(1).text == "=") {
        std::string which = name();
        ++at_;
        add(call, join(NodeKind::kNamed, std::move(which), expression()));
      } else {
        add(call, expression());
      }
      if (!is_operator(")")) expect_operator(",");
    }
  }

  Node pipe_named(Node node) {
    Node pipe = join(NodeKind::kPipe, name(), std::move(node));
    if (take_operator("(")) arguments(pipe);
    return pipe;
  }

  Node pipes(Node node) {
    while (true) {
      if (take_operator("|")) {
        node = pipe_named(std::move(node));
      } else if (take_name("is")) {
        node = test(std::move(node));
      } else if (is_operator("(")) {
        Node call = join(NodeKind::kInvoke, {}, std::move(node));
        ++at_;
        arguments(call);
        node = std::move(call);
      } else if (node.kind == NodeKind::kPipe && (is_operator(".") || is_operator("["))) {
        // "x | first.name" is not Jinja's, "(x | first).name" is; templates in the wild write x|list[0].
        node = postfix(std::move(node));
      } else {
        return node;
      }
    }
  }

  Node test(Node node) {
    const bool negated = take_name("not");
    std::string which = name();
    Node out = join(NodeKind::kTest, which, std::move(node));
    if (take_operator("(")) {
      arguments(out);
    } else {
      const bool more = word().kind == WordKind::kString || word().kind == WordKind::kInteger ||
                        word().kind == WordKind::kFloat || is_operator("[") || is_operator("{") ||
                        (word().kind == WordKind::kName && !is_name("else") && !is_name("or") && !is_name("and") &&
                         !is_name("if") && !is_name("is") && !is_name("in") && !is_name("not"));
      if (more) add(out, postfix(primary()));
    }
    return negated ? join(NodeKind::kNot, {}, std::move(out)) : out;
  }

  std::vector<Word> words_;
  std::size_t at_ = 0;
  int level_ = 0;
};

}  // namespace

Node parse_template(std::string_view source) {
  if (source.size() > kLongestTemplate) {
    throw Error(str_cat("it has ", source.size(), " bytes; the longest that is read has ", kLongestTemplate));
  }
  return Parser(cut_template(source)).whole();
}

Node parse_expression(std::string_view source) {
  if (source.size() > kLongestTemplate) throw Error("a value is too long");
  return Parser(cut_expression(source)).single();
}

}  // namespace metactrl::lm::jinja
