// An object is written as a declaration and read as one, so that there is one place that knows what a format may say.
// Its strings are quoted on the way; its keys are letters and hyphens, or refused.
//
// A template names its arguments as often as it likes, and an argument's template the object: a few kilobytes can ask
// for gigabytes. So the longest text that any action could have is worked out from lengths alone.
#include "serve/own_format.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "metactrl/error.h"
#include "serve/plan_json.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// Of the memory of a request: a byte of text becomes up to a token of four, for every separator.
constexpr std::size_t kShare = 8;
// "\u0001"
constexpr std::size_t kLongestEscape = 6;

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      case '"':
      case '\\':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  return out + '"';
}

// The lines of one member.
void declare(Fields& fields, const std::string& key, const Json& value, std::string& out) {
  const auto refuse = [&] {
    fields.refuse("format." + key,
                  "must be a text; for item, action and object also an object "
                  "of texts, for separator also a list of texts");
  };
  if (value.is_string()) {
    out += str_cat(key, ": ", in_quotes(value.text()), '\n');
  } else if (value.is_array() && key == "separator") {
    for (const Json& one : value.list()) {
      if (!one.is_string()) refuse();
      out += str_cat(key, ": ", in_quotes(one.text()), '\n');
    }
  } else if (value.is_object() && (key == "item" || key == "action" || key == "object")) {
    for (const auto& [name, text] : value.members()) {
      if (!text.is_string()) refuse();
      out += str_cat(key, ' ', in_quotes(name), ": ", in_quotes(text.text()), '\n');
    }
  } else {
    refuse();
  }
}

std::string declaration_of(Fields& fields, const Json& object) {
  std::string out;
  for (const auto& [key, value] : object.members()) {
    const bool plain =
        !key.empty() && key.size() < 40 && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
    if (!plain) fields.refuse("format", "has a key that no format has; docs/formats.md lists them");
    declare(fields, key, value, out);
    if (out.size() > kMaxFormatBytes) break;
  }
  return out;
}

std::size_t longest(const std::map<std::string, std::string>& texts) {
  std::size_t out = 0;
  for (const auto& [name, text] : texts) out = std::max(out, text.size());
  return out;
}

std::size_t placeholders(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '{'));
}

}  // namespace

PlanFormat read_format(Fields& fields, bool& own) {
  own = false;
  const Json* value = fields.find("format");
  if (value == nullptr) return PlanFormat::builtin("pddl");
  const std::vector<std::string> known = PlanFormat::builtin_names();
  if (value->is_string() && std::find(known.begin(), known.end(), value->text()) != known.end()) {
    return PlanFormat::builtin(value->text());
  }
  // A declaration has a value in quotes; a name has none.
  const bool declared = value->is_object() || (value->is_string() && value->text().find('"') != std::string::npos);
  if (!declared) {
    fields.refuse("format", str_cat("must be one of ", internal::join(known, ", "),
                                    ", or the declaration of a format, as text or as an object"));
  }
  own = true;
  const std::string text = value->is_object() ? declaration_of(fields, *value) : value->text();
  if (text.size() > kMaxFormatBytes) {
    fields.refuse("format", str_cat("must be at most ", kMaxFormatBytes, " bytes"));
  }
  try {
    PlanFormat format = PlanFormat::parse(text, "format");
    if (format.separators.size() > kMaxSeparators) {
      fields.refuse("format", str_cat("must have at most ", kMaxSeparators, " separators"));
    }
    return format;
  } catch (const InputError& error) {
    const std::vector<Diagnostic>& items = error.diagnostics().items();
    ApiError out(400, "bad_format", items.empty() ? error.what() : to_string(items.front()), fields.path() + "format");
    out.details()["diagnostics"] = diagnostics_json(error.diagnostics());
    throw ApiError(out);
  }
}

void check_format_size(const PlanFormat& format, const Task& task, std::size_t bytes) {
  std::size_t object = longest(format.object_names);
  for (std::uint32_t i = 0; i < task.num_objects(); ++i)
    object = std::max(object, task.object_name(ObjectId{i}).size());
  std::size_t action = longest(format.action_names);
  std::size_t arity = 0;
  for (std::uint32_t i = 0; i < task.num_action_names(); ++i) {
    action =
        std::max(action, task.action_name(ActionNameId{i}).size() * std::max<std::size_t>(1, format.hyphen.size()));
    arity = std::max<std::size_t>(arity, task.arity(ActionNameId{i}));
  }
  if (format.escape == PlanFormat::Escape::kJson) {
    object *= kLongestEscape;
    action *= kLongestEscape;
  }
  // In double: the product of what a request may have at most is more than 64 bits hold.
  const double argument =
      static_cast<double>(format.argument.size()) + static_cast<double>(placeholders(format.argument) * object);
  const double all = static_cast<double>(arity) * (argument + static_cast<double>(format.argument_separator.size()));
  double item = 0;
  for (const auto& [name, text] : format.items) {
    item = std::max(item, static_cast<double>(text.size()) +
                              static_cast<double>(placeholders(text)) * std::max(all, static_cast<double>(action)));
  }
  const double total = item * static_cast<double>(task.num_actions() * (format.separators.size() + 1));
  if (total <= static_cast<double>(bytes) / static_cast<double>(kShare)) return;
  throw ApiError(422, "task_too_large",
                 str_cat("with this format the texts of ", task.num_actions(),
                         " actions might take more than one request may; shorten its items"),
                 "format");
}

}  // namespace metactrl::serve
