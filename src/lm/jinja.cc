// Walks the tree. Names are looked up from the innermost scope outwards: a round of a loop and a call of a macro have
// scopes of their own, an `if` has none; a macro sees the scope that it was written in. Steps are counted, and so is how
// deep the calls are.
#include "lm/jinja.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <iomanip>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "lm/jinja_builtins.h"
#include "support/str_cat.h"

namespace metactrl::lm::jinja {

namespace {

using internal::str_cat;
using Kind = Value::Kind;

constexpr int kDeepestCall = 400;

// Has its place in the message already.
class PlacedError : public Error {
 public:
  using Error::Error;
};

struct Scope {
  std::shared_ptr<Scope> parent{};
  std::vector<std::pair<std::string, Value>> names{};

  void set(const std::string& name, Value value) {
    for (auto& item : names) {
      if (item.first == name) {
        item.second = std::move(value);
        return;
      }
    }
    names.emplace_back(name, std::move(value));
  }
};
using ScopePtr = std::shared_ptr<Scope>;

std::string date_text(const std::string& today, const std::string& format) {
  std::tm time{};
  std::istringstream in(today);
  in >> std::get_time(&time, "%Y-%m-%d");
  time.tm_hour = 12;  // far from any change of the day
  std::time_t seconds = timegm(&time);
  gmtime_r(&seconds, &time);
  time.tm_hour = 0;
  std::ostringstream out;
  out << std::put_time(&time, format.c_str());
  return out.str();
}

class Run {
 public:
  explicit Run(std::string today) : today_(std::move(today)) {}

  Text whole(const Node& program, const Dict& variables) {
    const auto globals = std::make_shared<Scope>();
    add_functions(*globals);
    for (const auto& item : variables.items) globals->set(item.first.text->bytes(), item.second);
    const auto top = std::make_shared<Scope>(Scope{globals});
    Text out;
    execute(program, top, out);
    return out;
  }

  Value value(const Node& node) { return evaluate(node, std::make_shared<Scope>()); }

 private:
  enum class Flow { kOn, kBreak, kContinue };

  class Deeper {
   public:
    explicit Deeper(Run& run) : run_(run) {
      run_.allowance_.spend(1);
      if (++run_.depth_ > kDeepestCall) {
        --run_.depth_;
        throw Error("it calls itself too deeply");
      }
    }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --run_.depth_; }

   private:
    Run& run_;
  };

  void add_functions(Scope& scope) {
    scope.set("raise_exception", Value::callable([](const Arguments& a) -> Value {
                throw PlacedError(str_cat("it says: ", to_text(a.get(0, "message")).bytes()));
              }));
    scope.set("namespace", Value::callable([](const Arguments& a) {
                Dict dict;
                if (!a.values.empty() && a.values.front().is(Kind::kDict)) dict = *a.values.front().dict;
                for (const auto& item : a.named) dict.set(Value::string(item.first), item.second);
                return Value::object(std::move(dict));
              }));
    scope.set("dict", *scope_value(scope, "namespace"));
    scope.set("range", Value::callable([this](const Arguments& a) { return range(a); }));
    scope.set("strftime_now", Value::callable([this](const Arguments& a) {
                return Value::string(date_text(today_, to_text(a.get(0, "format")).bytes()));
              }));
  }

  static const Value* scope_value(const Scope& scope, std::string_view name) {
    for (const Scope* at = &scope; at != nullptr; at = at->parent.get()) {
      for (const auto& item : at->names) {
        if (item.first == name) return &item.second;
      }
    }
    return nullptr;
  }

  Value range(const Arguments& arguments) {
    std::array<std::int64_t, 3> bounds = {0, 0, 1};
    const List& given = arguments.values;
    if (given.empty() || given.size() > 3) throw Error("range() wants one to three numbers");
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!given[i].is(Kind::kInt)) throw Error("range() wants whole numbers");
      bounds[given.size() == 1 ? 1 : i] = std::clamp<std::int64_t>(given[i].integer, -1'000'000'000, 1'000'000'000);
    }
    if (bounds[2] == 0) throw Error("range() goes nowhere");
    List out;
    for (std::int64_t i = bounds[0]; bounds[2] > 0 ? i < bounds[1] : i > bounds[1]; i += bounds[2]) {
      allowance_.spend(8);
      out.push_back(Value::number(i));
    }
    return Value::array(std::move(out));
  }

  // --- statements ----------------------------------------------------------------------------------------------------

  Flow execute(const Node& node, const ScopePtr& scope, Text& out) {
    const Deeper deeper(*this);
    try {
      return execute_here(node, scope, out);
    } catch (const PlacedError&) {
      throw;
    } catch (const Error& error) {
      throw PlacedError(str_cat("line ", node.line, ": ", error.what()));
    }
  }

  Flow execute_here(const Node& node, const ScopePtr& scope, Text& out) {
    switch (node.kind) {
      case NodeKind::kBlock:
        for (const Node& kid : node.kids) {
          const Flow flow = execute(kid, scope, out);
          if (flow != Flow::kOn) return flow;
        }
        break;
      case NodeKind::kData:
        allowance_.spend_bytes(node.text.size());
        out.append(Text(node.text));
        break;
      case NodeKind::kPrint: {
        const Text text = to_text(evaluate(node.kids[0], scope));
        allowance_.spend_bytes(text.size());
        out.append(text);
        break;
      }
      case NodeKind::kIf:
        for (std::size_t i = 0; i < node.kids.size(); i += 2) {
          const bool otherwise = i + 1 == node.kids.size();
          if (otherwise) return execute(node.kids[i], scope, out);
          if (truth(evaluate(node.kids[i], scope))) return execute(node.kids[i + 1], scope, out);
        }
        break;
      case NodeKind::kFor:
        loop(node, scope, out);
        break;
      case NodeKind::kSet:
        assign(node.kids[0], evaluate(node.kids[1], scope), scope);
        break;
      case NodeKind::kSetBlock:
        assign(node.kids[0], piped(node.kids[1], captured(node.kids[2], scope), scope), scope);
        break;
      case NodeKind::kFilter:
        out.append(to_text(piped(node.kids[0], captured(node.kids[1], scope), scope)));
        break;
      case NodeKind::kMacro:
        scope->set(node.text, macro(node, 0, scope));
        break;
      case NodeKind::kCall: {
        Arguments arguments = arguments_of(node.kids[0], scope);
        arguments.named.emplace_back("caller", macro(node, 1, scope));
        out.append(to_text(call(evaluate(node.kids[0].kids[0], scope), arguments)));
        break;
      }
      case NodeKind::kBreak:
        return Flow::kBreak;
      case NodeKind::kContinue:
        return Flow::kContinue;
      default:
        throw Error("a statement is not understood");
    }
    return Flow::kOn;
  }

  Text captured(const Node& body, const ScopePtr& scope) {
    Text out;
    execute(body, std::make_shared<Scope>(Scope{scope}), out);
    return out;
  }

  Value piped(const Node& filters, Text text, const ScopePtr& scope) {
    const auto inner = std::make_shared<Scope>(Scope{scope});
    inner->set(" piped", Value::string(std::move(text)));
    return evaluate(filters, inner);
  }

  void assign(const Node& target, const Value& value, const ScopePtr& scope) {
    if (target.kind == NodeKind::kName) {
      scope->set(target.text, value);
      return;
    }
    if (target.kind == NodeKind::kAttribute) {
      const Value object = evaluate(target.kids[0], scope);
      if (!object.is(Kind::kDict)) throw Error(str_cat("'", target.text, "' cannot be set on ", kind_name(object)));
      check_can_hold(object, value, allowance_);
      object.dict->set(Value::string(target.text), value);
      return;
    }
    const List items = items_of(value, allowance_);
    if (items.size() != target.kids.size())
      throw Error(str_cat(target.kids.size(), " names for ", items.size(), " values"));
    for (std::size_t i = 0; i < items.size(); ++i) assign(target.kids[i], items[i], scope);
  }

  void loop(const Node& node, const ScopePtr& scope, Text& out) {
    List items = items_of(evaluate(node.kids[1], scope), allowance_);
    const Node& condition = node.kids[2];
    if (condition.kind != NodeKind::kNothing) {
      List kept;
      for (const Value& item : items) {
        const auto inner = std::make_shared<Scope>(Scope{scope});
        assign(node.kids[0], item, inner);
        if (truth(evaluate(condition, inner))) kept.push_back(item);
      }
      items = std::move(kept);
    }
    if (items.empty() && node.kids[4].kind != NodeKind::kNothing) {
      execute(node.kids[4], scope, out);
      return;
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto inner = std::make_shared<Scope>(Scope{scope});
      inner->set("loop", place_in_loop(items, i));
      assign(node.kids[0], items[i], inner);
      if (execute(node.kids[3], inner, out) == Flow::kBreak) break;
    }
  }

  static Value place_in_loop(const List& items, std::size_t i) {
    const auto number = [](std::size_t value) { return Value::number(static_cast<std::int64_t>(value)); };
    Dict loop;
    const auto set = [&loop](const char* name, Value value) {
      loop.items.emplace_back(Value::string(name), std::move(value));
    };
    set("index", number(i + 1));
    set("index0", number(i));
    set("revindex", number(items.size() - i));
    set("revindex0", number(items.size() - i - 1));
    set("first", Value::boolean(i == 0));
    set("last", Value::boolean(i + 1 == items.size()));
    set("length", number(items.size()));
    if (i > 0) set("previtem", items[i - 1]);
    if (i + 1 < items.size()) set("nextitem", items[i + 1]);
    set("cycle", Value::callable([i](const Arguments& a) {
          if (a.values.empty()) throw Error("cycle() has nothing to go through");
          return a.values[i % a.values.size()];
        }));
    return Value::object(std::move(loop));
  }

  // Of a node whose kids are, from `body` on, a block and parameters. The scope is not kept alive by what it holds.
  Value macro(const Node& node, std::size_t body, const ScopePtr& scope) {
    const std::weak_ptr<Scope> weak = scope;
    return Value::callable([this, &node, body, weak](const Arguments& arguments) {
      const ScopePtr outer = weak.lock();
      if (outer == nullptr) throw Error("a macro is called where it is not known any more");
      const auto inner = std::make_shared<Scope>(Scope{outer});
      for (std::size_t i = body + 1; i < node.kids.size(); ++i) {
        const Node& parameter = node.kids[i];
        Value value = arguments.get(i - body - 1, parameter.text);
        const bool given = arguments.has(i - body - 1, parameter.text);
        if (!given && !parameter.kids.empty()) value = evaluate(parameter.kids[0], inner);
        inner->set(parameter.text, std::move(value));
      }
      for (const auto& item : arguments.named) {
        if (item.first == "caller") inner->set("caller", item.second);
      }
      Text out;
      execute(node.kids[body], inner, out);
      return Value::string(std::move(out));
    });
  }

  // --- expressions ---------------------------------------------------------------------------------------------------

  Value evaluate(const Node& node, const ScopePtr& scope) {
    const Deeper deeper(*this);
    switch (node.kind) {
      case NodeKind::kNothing:
        return {};
      case NodeKind::kLiteral:
        return node.value;
      case NodeKind::kPiped:
        return lookup(" piped", *scope);
      case NodeKind::kName:
        return lookup(node.text, *scope);
      case NodeKind::kTuple:
      case NodeKind::kList: {
        List list;
        for (const Node& kid : node.kids) list.push_back(evaluate(kid, scope));
        return Value::array(std::move(list));
      }
      case NodeKind::kDict: {
        Dict dict;
        for (std::size_t i = 0; i + 1 < node.kids.size(); i += 2) {
          const Value key = evaluate(node.kids[i], scope);
          dict.set(key, evaluate(node.kids[i + 1], scope));
        }
        return Value::object(std::move(dict));
      }
      case NodeKind::kAttribute:
        return attribute(evaluate(node.kids[0], scope), node);
      case NodeKind::kItem:
        return item(evaluate(node.kids[0], scope), evaluate(node.kids[1], scope), node);
      case NodeKind::kSlice:
        return slice(node, scope);
      case NodeKind::kInvoke: {
        const Value function = evaluate(node.kids[0], scope);
        if (!function.is(Kind::kFunction))
          throw Error(str_cat("'", name_of(node.kids[0]), "' is ", kind_name(function), " and cannot be called"));
        return call(function, arguments_of(node, scope));
      }
      case NodeKind::kPipe: {
        const Value value = evaluate(node.kids[0], scope);
        return apply_filter(node.text, value, arguments_of(node, scope), allowance_);
      }
      case NodeKind::kTest: {
        const Value value = evaluate(node.kids[0], scope);
        return Value::boolean(apply_test(node.text, value, arguments_of(node, scope)));
      }
      case NodeKind::kNot:
        return Value::boolean(!truth(evaluate(node.kids[0], scope)));
      case NodeKind::kNegative:
        return arithmetic("-", Value::number(std::int64_t{0}), evaluate(node.kids[0], scope), allowance_);
      case NodeKind::kBinary: {
        const Value left = evaluate(node.kids[0], scope);
        return arithmetic(node.text, left, evaluate(node.kids[1], scope), allowance_);
      }
      case NodeKind::kCompare:
        return compare(node, scope);
      case NodeKind::kAnd: {
        Value left = evaluate(node.kids[0], scope);
        return truth(left) ? evaluate(node.kids[1], scope) : left;
      }
      case NodeKind::kOr: {
        Value left = evaluate(node.kids[0], scope);
        return truth(left) ? left : evaluate(node.kids[1], scope);
      }
      case NodeKind::kEither:
        return evaluate(node.kids[truth(evaluate(node.kids[0], scope)) ? 1 : 2], scope);
      default:
        throw Error("an expression is not understood");
    }
  }

  static std::string name_of(const Node& node) { return node.text.empty() ? "this" : node.text; }

  Value lookup(std::string_view name, const Scope& scope) {
    const Value* found = scope_value(scope, name);
    return found == nullptr ? Value() : *found;
  }

  Arguments arguments_of(const Node& node, const ScopePtr& scope) {
    Arguments out;
    for (std::size_t i = 1; i < node.kids.size(); ++i) {
      const Node& kid = node.kids[i];
      if (kid.kind == NodeKind::kNamed) {
        out.named.emplace_back(kid.text, evaluate(kid.kids[0], scope));
      } else {
        out.values.push_back(evaluate(kid, scope));
      }
    }
    return out;
  }

  Value call(const Value& function, const Arguments& arguments) {
    if (!function.is(Kind::kFunction)) throw Error(str_cat(kind_name(function), " cannot be called"));
    const Deeper deeper(*this);
    return (*function.function)(arguments);
  }

  Value attribute(const Value& value, const Node& node) {
    if (value.is(Kind::kUndefined))
      throw Error(str_cat("'", name_of(node.kids[0]), "' is undefined and has no '", node.text, "'"));
    // Python's mappings have methods before they have keys.
    if (const auto method = method_of(value, node.text, allowance_)) {
      const Value* own = value.is(Kind::kDict) ? value.dict->find(node.text) : nullptr;
      if (own == nullptr || own->is(Kind::kUndefined)) return *method;
      return node.text == "items" || node.text == "keys" || node.text == "values" || node.text == "get" ? *method
                                                                                                        : *own;
    }
    return attribute_of(value, node.text);
  }

  Value item(const Value& value, const Value& key, const Node& node) {
    if (value.is(Kind::kUndefined)) throw Error(str_cat("'", name_of(node.kids[0]), "' is undefined and has no items"));
    if (value.is(Kind::kDict)) {
      allowance_.spend(1 + value.dict->items.size() / 8);
      const Value* found = value.dict->find(key);
      return found == nullptr ? Value() : *found;
    }
    if (!key.is(Kind::kInt)) {
      if (key.is(Kind::kText)) {
        if (const auto method = method_of(value, key.text->bytes(), allowance_)) return *method;
      }
      return {};
    }
    if (!value.is(Kind::kList) && !value.is(Kind::kText)) return {};
    const auto size =
        static_cast<std::int64_t>(value.is(Kind::kList) ? value.list->size() : characters(value.text->bytes()));
    const std::int64_t index = key.integer < 0 ? key.integer + size : key.integer;
    if (index < 0 || index >= size) return {};
    if (value.is(Kind::kList)) return (*value.list)[static_cast<std::size_t>(index)];
    return Value::string(characters_of(*value.text, index, index + 1));
  }

  Text characters_of(const Text& text, std::int64_t begin, std::int64_t end) {
    allowance_.spend_bytes(text.size());
    const std::size_t from = byte_of(text.bytes(), static_cast<std::size_t>(begin));
    const std::size_t to = byte_of(text.bytes(), static_cast<std::size_t>(end));
    return text.part(from, to - from);
  }

  Value slice(const Node& node, const ScopePtr& scope) {
    const Value value = evaluate(node.kids[0], scope);
    std::array<Value, 3> given;
    for (std::size_t i = 0; i < 3; ++i) {
      given[i] = evaluate(node.kids[i + 1], scope);
      if (given[i].is(Kind::kNone)) given[i] = Value();
      if (!given[i].is(Kind::kUndefined) && !given[i].is(Kind::kInt)) throw Error("a slice wants whole numbers");
    }
    if (!value.is(Kind::kList) && !value.is(Kind::kText)) throw Error(str_cat(kind_name(value), " cannot be sliced"));
    const auto size =
        static_cast<std::int64_t>(value.is(Kind::kList) ? value.list->size() : characters(value.text->bytes()));
    const std::int64_t step = given[2].is(Kind::kInt) ? given[2].integer : 1;
    if (step == 0) throw Error("a slice goes nowhere");
    const auto bound = [&](const Value& at, std::int64_t otherwise) {
      if (!at.is(Kind::kInt)) return otherwise;
      const std::int64_t place = at.integer < 0 ? at.integer + size : at.integer;
      return std::clamp<std::int64_t>(place, step < 0 ? -1 : 0, step < 0 ? size - 1 : size);
    };
    const std::int64_t begin = bound(given[0], step < 0 ? size - 1 : 0);
    const std::int64_t end = bound(given[1], step < 0 ? -1 : size);
    if (value.is(Kind::kText) && step == 1) {
      return Value::string(begin < end ? characters_of(*value.text, begin, end) : Text());
    }
    const List items = items_of(value, allowance_);
    List out;
    for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step)
      out.push_back(items[static_cast<std::size_t>(i)]);
    if (value.is(Kind::kList)) return Value::array(std::move(out));
    Text text;
    for (const Value& one : out) text.append(*one.text);
    return Value::string(std::move(text));
  }

  Value compare(const Node& node, const ScopePtr& scope) {
    Value left = evaluate(node.kids[0], scope);
    std::istringstream operators(node.text);
    std::string op;
    for (std::size_t i = 1; operators >> op; ++i) {
      const Value right = evaluate(node.kids[i], scope);
      bool holds = false;
      if (op == "==" || op == "!=") {
        holds = equal(left, right) == (op == "==");
      } else if (op == "in" || op == "notin") {
        allowance_.spend(right.is(Kind::kList)   ? right.list->size()
                         : right.is(Kind::kText) ? right.text->size() / 16
                                                 : 1);
        holds = contains(right, left) == (op == "in");
      } else {
        holds = op == "<"    ? less(left, right)
                : op == ">"  ? less(right, left)
                : op == "<=" ? !less(right, left)
                             : !less(left, right);
      }
      if (!holds) return Value::boolean(false);
      left = right;
    }
    return Value::boolean(true);
  }

  std::string today_;
  Allowance allowance_;
  int depth_ = 0;
};

Value marked(const Value& value) {
  if (value.is(Kind::kText)) return Value::string(Text(value.text->bytes(), true));
  if (value.is(Kind::kList)) {
    List out;
    for (const Value& item : *value.list) out.push_back(marked(item));
    return Value::array(std::move(out));
  }
  if (!value.is(Kind::kDict)) return value;
  Dict out;
  for (const auto& item : value.dict->items) out.items.emplace_back(marked(item.first), marked(item.second));
  return Value::object(std::move(out));
}

}  // namespace

Text Template::render(const Dict& variables, const std::string& today) const {
  return Run(today).whole(program_, variables);
}

Value value_from_json(std::string_view json) {
  const Node node = parse_expression(json);
  return marked(Run({}).value(node));
}

}  // namespace metactrl::lm::jinja
