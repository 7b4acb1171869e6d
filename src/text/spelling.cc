// From a format and a task to the text of each action, and the proof that the texts can be told apart.
//
// Each object's text is made once, each action name's template is resolved once into alternating literals and argument
// numbers; a ground action is then a few copies. The proof is in collision.cc; here its result is put into words.
#include <utility>

#include "metactrl/error.h"
#include "metactrl/format.h"
#include "metactrl/schedule.h"
#include "support/lower_case.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "task/reference.h"
#include "text/collision.h"
#include "text/quote.h"
#include "text/spelling_tables.h"

namespace metactrl {

using internal::str_cat;
using text::quote;
using text::TemplatePart;

namespace {

using Names = std::map<std::string, std::string>;

// JSON's rules for the inside of a string.
std::string escape_json(std::string_view text) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

Names with_lower_keys(const Names& names) {
  Names out;
  for (const auto& [name, text] : names) out.emplace(internal::lower_case(name), text);
  return out;
}

const std::string* find(const Names& names, const std::string& name) {
  const auto place = names.find(name);
  return place == names.end() ? nullptr : &place->second;
}

// A number that belongs to the ground action, in the middle of a literal.
struct NumberPlace {
  std::size_t literal = 0;
  std::size_t offset = 0;
  bool is_duration = false;  // else the cost
};

// An action name's template: literals[0] argument literals[1] argument ...
struct Skeleton {
  std::vector<std::string> literals{std::string()};
  std::vector<std::uint32_t> arguments;
  std::vector<NumberPlace> numbers;  // in their order

  void add_literal(std::string_view text) { literals.back() += text; }
  void add_number(bool is_duration) { numbers.push_back({literals.size() - 1, literals.back().size(), is_duration}); }
  void add_argument(std::size_t argument) {
    arguments.push_back(static_cast<std::uint32_t>(argument));
    literals.emplace_back();
  }
};

class Speller {
 public:
  Speller(const PlanFormat& format, const Task& task)
      : format_(format),
        task_(task),
        items_(with_lower_keys(format.items)),
        action_names_(with_lower_keys(format.action_names)),
        object_names_(with_lower_keys(format.object_names)),
        argument_(text::split_template(format.argument)) {}

  std::vector<PlanSpelling::Item> run(Diagnostics& diagnostics) {
    diagnostics_ = &diagnostics;
    check_action_keys();
    for (std::size_t i = 0; i < task_.num_action_names(); ++i) add_skeleton(static_cast<ActionNameId>(i));
    if (diagnostics.has_errors()) return {};
    spell_objects();
    if (diagnostics.has_errors()) return {};
    std::vector<PlanSpelling::Item> actions(task_.num_actions());
    for (std::size_t i = 0; i < actions.size() && !diagnostics.has_errors(); ++i) {
      actions[i] = spell(static_cast<ActionId>(i));
    }
    return actions;
  }

 private:
  void error(std::string message, std::string hint) {
    diagnostics_->error({str_cat("plan format '", format_.name, "'"), 0, 0}, std::move(message), std::move(hint));
  }

  // A line about an action that the domain does not have is a slip of the pen.
  void check_action_keys() {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < task_.num_action_names(); ++i)
      known.push_back(internal::lower_case(task_.action_name(static_cast<ActionNameId>(i))));
    const auto check = [&](const char* key, const Names& names) {
      for (const auto& [name, text] : names) {
        if (name == "*" || name.starts_with('/')) continue;
        bool found = false;
        for (const std::string& action : known) found = found || action == name;
        if (found) continue;
        const std::string guess = internal::did_you_mean(name, known);
        error(str_cat("the line '", key, " ", name, "' is about an action that the domain does not have"),
              guess.empty() ? "correct the name or remove the line" : guess);
      }
    };
    check("item", items_);
    check("action", action_names_);
  }

  std::string written_name(const std::string& name) const {
    std::string out;
    if (const std::string* own = find(action_names_, internal::lower_case(name)); own != nullptr) {
      out = *own;
    } else {
      for (char c : name) {
        if (c == '-') {
          out += format_.hyphen;
          continue;
        }
        if (format_.action_case == PlanFormat::Case::kUpper && c >= 'a' && c <= 'z')
          c = static_cast<char>(c - 'a' + 'A');
        if (format_.action_case == PlanFormat::Case::kLower) c = internal::lower_case(c);
        out += c;
      }
    }
    return escaped(out);
  }

  std::string escaped(std::string_view text) const {
    return format_.escape == PlanFormat::Escape::kJson ? escape_json(text) : std::string(text);
  }

  void add_skeleton(ActionNameId id) {
    const std::string& name = task_.action_name(id);
    const std::size_t arity = task_.arity(id);
    Skeleton& skeleton = skeletons_.emplace_back();
    const std::string* item = find(items_, internal::lower_case(name));
    if (item == nullptr) item = find(items_, str_cat('/', arity));
    if (item == nullptr) item = find(items_, "*");
    if (item == nullptr) {
      error(str_cat("action '", name, "' with ", arity, arity == 1 ? " argument" : " arguments", " has no item"),
            str_cat("add a line  item ", name, ": \"...\"  or one for all actions,  item: \"...\""));
      return;
    }
    for (const TemplatePart& part : text::split_template(*item)) {
      if (!part.placeholder) {
        skeleton.add_literal(part.text);
      } else if (part.text == "action") {
        skeleton.add_literal(written_name(name));
      } else if (part.text == "duration" || part.text == "cost") {
        skeleton.add_number(part.text == "duration");
      } else if (part.text == "arguments") {
        for (std::size_t i = 0; i < arity; ++i) {
          if (i > 0) skeleton.add_literal(format_.argument_separator);
          skeleton.add_argument(i);
        }
      } else if (const std::optional<std::size_t> number = text::parse_number(part.text); number && *number <= arity) {
        skeleton.add_argument(*number - 1);
      } else {
        error(str_cat("the item of action '", name, "', ", quote(*item), ", uses {", part.text,
                      "}, but the action has ", arity, arity == 1 ? " argument" : " arguments"),
              str_cat("add a line of its own,  item ", name, ": \"...\"  or  item /", arity, ": \"...\""));
      }
    }
  }

  // Only objects that some action uses need a text.
  void spell_objects() {
    std::vector<bool> used(task_.num_objects(), false);
    for (std::size_t i = 0; i < task_.num_actions(); ++i) {
      const auto action = static_cast<ActionId>(i);
      const std::span<const ObjectId> arguments = task_.arguments(action);
      for (const std::uint32_t argument : skeletons_[static_cast<std::size_t>(task_.name_of(action))].arguments)
        used[static_cast<std::size_t>(arguments[argument])] = true;
    }
    objects_.resize(used.size());
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i]) objects_[i] = spell_object(task_.object_name(static_cast<ObjectId>(i)));
    }
  }

  std::string spell_object(const std::string& own_name) {
    const std::string* other = find(object_names_, internal::lower_case(own_name));
    const std::string& object = other != nullptr ? *other : own_name;
    std::string out;
    for (const TemplatePart& part : argument_) {
      if (!part.placeholder) {
        out += part.text;
        continue;
      }
      if (part.text == "object") {
        out += escaped(object);
        continue;
      }
      const std::size_t split = object.rfind(format_.id_separator);
      if (split == std::string::npos) {
        error(str_cat("object '", object, "' has no ", quote(format_.id_separator),
                      " that splits it into {name} and {id}"),
              str_cat("rename it, or add a line  object ", own_name, ": \"", object, format_.id_separator, "1\""));
        return {};
      }
      out += escaped(part.text == "name" ? std::string_view(object).substr(0, split)
                                         : std::string_view(object).substr(split + format_.id_separator.size()));
    }
    return out;
  }

  PlanSpelling::Item spell(ActionId action) {
    const Skeleton& skeleton = skeletons_[static_cast<std::size_t>(task_.name_of(action))];
    const std::span<const ObjectId> arguments = task_.arguments(action);
    PlanSpelling::Item out;
    out.pieces.reserve(2 * skeleton.arguments.size() + 1);
    out.pieces.push_back(skeleton.literals[0]);
    for (std::size_t i = 0; i < skeleton.arguments.size(); ++i) {
      out.pieces.push_back(objects_[static_cast<std::size_t>(arguments[skeleton.arguments[i]])]);
      out.pieces.push_back(skeleton.literals[i + 1]);
    }
    out.arguments = skeleton.arguments;
    // From behind, so that no place moves.
    for (auto place = skeleton.numbers.rbegin(); place != skeleton.numbers.rend(); ++place) {
      out.pieces[2 * place->literal].insert(place->offset, number(action, place->is_duration));
    }
    return out;
  }

  // "12.5"
  std::string number(ActionId action, bool is_duration) {
    if (!is_duration) return str_cat(task_.cost(action));
    const std::optional<std::int64_t> duration =
        task_.reference() == nullptr ? 0 : task_.reference()->fixed_duration(task_.step(action));
    if (!duration) {
      error(str_cat("how long ", task_.text(action), " takes depends on the state, so {duration} cannot be written"),
            str_cat("add a line without it:  item ", task_.action_name(task_.name_of(action)), ": \"...\""));
      return {};
    }
    std::string text = time_text(*duration);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  }

  const PlanFormat& format_;
  const Task& task_;
  Diagnostics* diagnostics_ = nullptr;
  Names items_;
  Names action_names_;
  Names object_names_;
  std::vector<TemplatePart> argument_;
  std::vector<Skeleton> skeletons_;  // per action name
  std::vector<std::string> objects_;
};

std::string number_item(const std::vector<TemplatePart>& prefix, std::size_t index) {
  std::string out;
  for (const TemplatePart& part : prefix) out += part.placeholder ? std::to_string(index) : part.text;
  return out;
}

[[noreturn]] void fail(const PlanFormat& format, const std::string& message, const std::string& hint) {
  throw InputError(str_cat("plan format '", format.name, "'"), message, hint);
}

// --- collisions in words ---------------------------------------------------------------------------------------------
class Reporter {
 public:
  Reporter(const PlanFormat& format, const Task& task, const text::ItemTrie& items,
           const std::vector<std::string>& ends)
      : format_(format), task_(task), items_(items), ends_(ends) {}

  [[noreturn]] void same(std::uint32_t first, std::uint32_t second) const {
    const PlanStep a = task_.step(static_cast<ActionId>(first));
    const PlanStep b = task_.step(static_cast<ActionId>(second));
    std::string hint;
    if (a.action != b.action) {
      hint = str_cat("use {action} in their items, or give one of them its own text:  item ", b.action, ": \"...\"");
    } else {
      hint = str_cat("use all arguments in the item of '", a.action,
                     "', with something between them, and let no two objects "
                     "have the same text ('object' lines, {name} and {id})");
    }
    fail(format_,
         str_cat("actions ", to_string(a), " and ", to_string(b), " are both written ", quote(items_.text(first))),
         hint);
  }

  [[noreturn]] void prefix(const text::Collision& collision) const {
    fail(format_,
         str_cat("actions ", action(collision.first), " and ", action(collision.second),
                 " collide: ", word(collision.first), " is the beginning of ", word(collision.second)),
         "a reader could not tell where the first one ends; put quotes or brackets around items, or choose separators "
         "and "
         "a closing that no item goes on with");
  }

  [[noreturn]] void empty(const text::Word& other, const std::string& opening) const {
    fail(
        format_,
        str_cat("the empty plan, written ", quote(format_.empty), ", collides with plans that begin with ",
                action(other), ", written ", quote(str_cat(opening, items_.text(other.item), ends_[other.end])), "..."),
        "state another text for the empty plan:  empty: \"...\"");
  }

 private:
  std::string action(const text::Word& word) const { return task_.text(static_cast<ActionId>(word.item)); }
  std::string word(const text::Word& word) const {
    return str_cat(quote(items_.text(word.item)), " with the ",
                   word.end + 1 == ends_.size() ? "closing " : "separator ", quote(ends_[word.end]));
  }

  const PlanFormat& format_;
  const Task& task_;
  const text::ItemTrie& items_;
  const std::vector<std::string>& ends_;
};

}  // namespace

std::string PlanSpelling::Item::text() const {
  std::size_t size = 0;
  for (const std::string& piece : pieces) size += piece.size();
  std::string out;
  out.reserve(size);
  for (const std::string& piece : pieces) out += piece;
  return out;
}

PlanSpelling::PlanSpelling(PlanFormat format, const Task& task) : format_(std::move(format)) {
  Diagnostics diagnostics;
  for (text::FormatProblem& problem : text::check_format(format_)) {
    std::string message = problem.key.empty() ? std::string() : str_cat('\'', problem.key, "': ");
    diagnostics.error({str_cat("plan format '", format_.name, "'"), 0, 0}, message + problem.message,
                      std::move(problem.hint));
  }
  if (!diagnostics.has_errors()) actions_ = Speller(format_, task).run(diagnostics);
  if (diagnostics.has_errors()) throw InputError(std::move(diagnostics));
  if (format_.empty.empty()) format_.empty = format_.open + format_.close;

  auto tables = std::make_unique<Tables>();
  tables->ends = format_.separators;
  tables->ends.push_back(format_.close);
  tables->prefix = text::split_template(format_.prefix);
  std::vector<std::string> texts;
  texts.reserve(actions_.size());
  for (const PlanSpelling::Item& action : actions_) texts.push_back(action.text());
  const auto same = tables->items.build(texts);
  const Reporter reporter(format_, task, tables->items, tables->ends);
  if (same) reporter.same(same->first, same->second);
  // Where the end of the text is the closing, an item with its closing is no beginning of anything.
  const bool ends_with_text = format_.close.empty();
  const std::span<const std::string> ends =
      ends_with_text ? std::span<const std::string>(format_.separators) : std::span<const std::string>(tables->ends);
  if (const auto collision = text::find_collision(tables->items, ends)) reporter.prefix(*collision);
  tables->opening = format_.open + number_item(tables->prefix, 1);
  const auto word = ends_with_text ? text::find_word_in(format_.empty, tables->opening, tables->items, ends)
                                   : text::find_word_like(format_.empty, tables->opening, tables->items, ends);
  if (word) reporter.empty(*word, tables->opening);
  tables_ = std::move(tables);
}

PlanSpelling::PlanSpelling(PlanSpelling&&) noexcept = default;
PlanSpelling::~PlanSpelling() = default;

std::string PlanSpelling::prefix(std::size_t index) const { return number_item(tables_->prefix, index); }

std::string PlanSpelling::render(std::span<const ActionId> plan, std::span<const std::uint32_t> separators) const {
  if (plan.empty()) return format_.empty;
  std::string out = format_.open;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto action = static_cast<std::size_t>(plan[i]);
    if (action >= actions_.size())
      fail(format_, str_cat("there is no action number ", action), "use the task's action ids");
    out += prefix(i + 1);
    for (const std::string& piece : actions_[action].pieces) out += piece;
    if (i + 1 == plan.size()) break;
    const std::size_t separator = i < separators.size() ? separators[i] : 0;
    if (separator >= format_.separators.size()) {
      fail(format_, str_cat("there is no separator number ", separator),
           str_cat("the format has ", format_.separators.size(), "; they count from 0"));
    }
    out += format_.separators[separator];
  }
  return out + format_.close;
}

std::size_t PlanSpelling::memory_bytes() const {
  const auto heap = [](const std::string& text) {
    constexpr std::size_t kInPlace = 15;
    return text.capacity() > kInPlace ? text.capacity() + 1 : 0;
  };
  std::size_t bytes = sizeof(*this) + sizeof(Tables) + tables_->items.memory_bytes();
  bytes += actions_.capacity() * sizeof(PlanSpelling::Item);
  for (const PlanSpelling::Item& action : actions_) {
    bytes += action.pieces.capacity() * sizeof(std::string) + action.arguments.capacity() * sizeof(std::uint32_t);
    for (const std::string& piece : action.pieces) bytes += heap(piece);
  }
  return bytes;
}

}  // namespace metactrl
