#include "serve/fields.h"

#include <algorithm>
#include <cmath>

#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::serve {

namespace {

using internal::str_cat;

// What a client wrote is repeated in messages, but not a megabyte of it.
constexpr std::size_t kShown = 80;
std::string shown(const std::string& text) { return text.size() <= kShown ? text : text.substr(0, kShown) + "..."; }
std::string guess(const std::string& name, const std::vector<std::string>& known) {
  return name.size() <= kShown ? internal::did_you_mean(name, known) : "";
}

std::string number_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? str_cat(static_cast<std::int64_t>(value))
                                                              : str_cat(value);
}

}  // namespace

Fields::Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
  if (!object.is_object()) {
    const std::string name = path_.substr(0, path_.empty() ? 0 : path_.size() - 1);
    throw ApiError(400, "bad_request", str_cat("'", name, "' must be an object"), name);
  }
}

void Fields::refuse(const std::string& name, const std::string& message) const {
  throw ApiError(400, "bad_request", str_cat("'", path_, name, "' ", message), path_ + name);
}

const Json* Fields::find(const std::string& name) {
  known_.push_back(name);
  const Json& value = object_[name];
  return value.is_null() ? nullptr : &value;
}

std::optional<std::string> Fields::text(const std::string& name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(name, "must be a string");
  return value->text();
}

std::optional<double> Fields::number(const std::string& name, double low, double high) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::string wanted = str_cat("must be a number from ", number_text(low), " to ", number_text(high));
  if (!value->is_number()) refuse(name, wanted);
  const auto number = value->number();
  if (!(number >= low && number <= high)) refuse(name, str_cat(wanted, ", and is ", number_text(number)));
  return number;
}

std::optional<std::uint64_t> Fields::integer(const std::string& name, std::uint64_t low, std::uint64_t high) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  const std::string wanted = str_cat("must be a whole number from ", low, " to ", high);
  if (!value->is_number_unsigned()) refuse(name, wanted);
  const auto number = value->whole_number();
  if (number < low || number > high) refuse(name, str_cat(wanted, ", and is ", number));
  return number;
}

std::optional<bool> Fields::flag(const std::string& name) {
  const Json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(name, "must be true or false");
  return value->flag();
}

void Fields::refuse_choice(const std::string& name, const std::string& value,
                           const std::vector<std::string>& names) const {
  const std::string nearest = guess(value, names);
  refuse(name, str_cat("must be one of ", internal::join(names, ", "), nearest.empty() ? "" : " (" + nearest + ")"));
}

void Fields::refuse_others() const {
  for (const auto& [name, value] : object_.members()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    const std::string nearest = guess(name, known_);
    refuse(shown(name), "is not known" + (nearest.empty() ? "" : "; " + nearest));
  }
}

}  // namespace metactrl::serve
