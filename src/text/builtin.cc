// The formats that come with the library.
#include "metactrl/error.h"
#include "metactrl/format.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "text/builtin_formats.h"

namespace metactrl {

std::vector<std::string> PlanFormat::builtin_names() {
  std::vector<std::string> names;
  for (const text::BuiltinFormat& format : text::builtin_formats()) names.emplace_back(format.name);
  return names;
}

std::string_view PlanFormat::builtin_text(const std::string& name) {
  for (const text::BuiltinFormat& format : text::builtin_formats()) {
    if (format.name == name) return format.text;
  }
  const std::vector<std::string> names = builtin_names();
  std::string hint = internal::did_you_mean(name, names);
  if (!hint.empty()) hint += ' ';
  hint += "known:";
  for (const std::string& known : names) hint += " " + known;
  throw InputError("", internal::str_cat("there is no plan format '", name, "'"), hint);
}

PlanFormat PlanFormat::builtin(const std::string& name) { return parse(builtin_text(name), name + ".format"); }

}  // namespace metactrl
