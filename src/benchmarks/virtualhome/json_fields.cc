#include "benchmarks/virtualhome/json_fields.h"

#include <utility>

#include "benchmarks/virtualhome/scene.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/words.h"

namespace metactrl::benchmarks::virtualhome {

void JsonPlace::fail(const std::string& message, const std::string& hint) const {
  Diagnostics diagnostics;
  const std::string where = path_.empty() ? "the row" : str_cat("'", path_, "'");
  diagnostics.error({file_, static_cast<std::uint32_t>(line_), 0}, str_cat(where, " ", message), hint);
  throw InputError(std::move(diagnostics));
}

JsonPlace JsonPlace::field(const std::string& name) const {
  if (!value_->is_object()) fail("is not a JSON object");
  const auto found = value_->find(name);
  if (found == value_->end()) fail(str_cat("has no field '", name, "'"), "is this a file of the right kind?");
  return {*found, file_, line_, path_.empty() ? name : str_cat(path_, ".", name)};
}

bool JsonPlace::has(const std::string& name) const { return value_->is_object() && value_->contains(name); }

std::vector<JsonPlace> JsonPlace::items() const {
  if (!value_->is_array()) fail("is not a list");
  std::vector<JsonPlace> result;
  result.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i) {
    result.emplace_back((*value_)[i], file_, line_, str_cat(path_, "[", i, "]"));
  }
  return result;
}

std::vector<JsonPlace> JsonPlace::items(std::size_t count) const {
  std::vector<JsonPlace> result = items();
  if (result.size() != count) fail(str_cat("has ", result.size(), " entries instead of ", count));
  return result;
}

std::string JsonPlace::text() const {
  if (!value_->is_string()) fail("is not a string");
  return value_->get<std::string>();
}

int JsonPlace::number() const {
  if (!value_->is_number_integer()) fail("is not a whole number");
  const auto number = value_->get<std::int64_t>();
  if (number < 0 || number >= Scene::kMaxId) fail(str_cat("is ", number, ", out of range"));
  return static_cast<int>(number);
}

bool JsonPlace::flag() const {
  if (!value_->is_boolean()) fail("is not true or false");
  return value_->get<bool>();
}

std::vector<std::string> JsonPlace::texts() const {
  std::vector<std::string> result;
  for (const JsonPlace& item : items()) result.push_back(item.text());
  return result;
}

void for_each_json_line(const std::string& path, const std::function<void(const JsonPlace&)>& use) {
  const std::string text = internal::read_file(path);
  std::size_t line = 0;
  bool any = false;
  for (const std::string_view row : split(text, "\n")) {
    ++line;
    if (trim(row).empty()) continue;
    const Json value = Json::parse(row, nullptr, false);
    const JsonPlace place(value, path, line);
    if (!value.is_object()) place.fail("is not a JSON object", "the file holds one JSON object per line");
    use(place);
    any = true;
  }
  if (!any) throw InputError(path, "the file is empty", "it holds one JSON object per line");
}

}  // namespace metactrl::benchmarks::virtualhome
