// Reading the members of a JSON object that a client sent: the right type and range, or an error that names the member.
//
//     Fields fields(json, "plan.");
//     std::optional<std::string> domain = fields.text("domain");
//     std::optional<double> limit = fields.number("time_limit", 0.001, 60);
//     fields.refuse_others();          // an unknown member is a mistake, and the nearest known one is named
//
// Null counts as absent. All throw ApiError with status 400.
#ifndef METACTRL_SRC_SERVE_FIELDS_H_
#define METACTRL_SRC_SERVE_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serve/api_error.h"
#include "support/enum_names.h"

namespace metactrl::serve {

class Fields {
 public:
  // `object` must outlive this; `path` is put before names in messages. Throws when it is no object.
  Fields(const Json& object, std::string path);

  const Json* find(const std::string& name);
  std::optional<std::string> text(const std::string& name);
  std::optional<double> number(const std::string& name, double low, double high);
  std::optional<std::uint64_t> integer(const std::string& name, std::uint64_t low, std::uint64_t high);
  std::optional<bool> flag(const std::string& name);
  // One of the values' names, but for that of `except`.
  template <typename Enum>
  std::optional<Enum> choice(const std::string& name, std::optional<Enum> except = {}) {
    const std::optional<std::string> value = text(name);
    if (!value) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& one : enum_names(Enum{})) {
      if (one.value == except) continue;
      if (*value == one.name) return one.value;
      names.emplace_back(one.name);
    }
    refuse_choice(name, *value, names);
  }

  // Throws for members that nobody asked for.
  void refuse_others() const;
  [[noreturn]] void refuse(const std::string& name, const std::string& message) const;
  const std::string& path() const { return path_; }
  // The members that were asked for.
  const std::vector<std::string>& names() const { return known_; }

 private:
  [[noreturn]] void refuse_choice(const std::string& name, const std::string& value,
                                  const std::vector<std::string>& names) const;

  const Json& object_;
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace metactrl::serve

#endif  // METACTRL_SRC_SERVE_FIELDS_H_
