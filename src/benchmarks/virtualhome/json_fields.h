// Reading fields of JSON rows with messages that name the file, the line and the field.
#ifndef METACTRL_SRC_BENCHMARKS_VIRTUALHOME_JSON_FIELDS_H_
#define METACTRL_SRC_BENCHMARKS_VIRTUALHOME_JSON_FIELDS_H_

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace metactrl::benchmarks::virtualhome {

using Json = nlohmann::json;

// One JSON value of a file and where it stands. Every getter throws InputError when the value is not of the kind.
class JsonPlace {
 public:
  JsonPlace(const Json& value, std::string file, std::size_t line, std::string path = {})
      : value_(&value), file_(std::move(file)), line_(line), path_(std::move(path)) {}

  JsonPlace field(const std::string& name) const;  // of an object
  bool has(const std::string& name) const;
  std::vector<JsonPlace> items() const;                   // of an array
  std::vector<JsonPlace> items(std::size_t count) const;  // of an array with that many
  std::string text() const;
  int number() const;  // from 0 to a million
  bool flag() const;
  std::vector<std::string> texts() const;
  const Json& json() const { return *value_; }
  std::size_t line() const { return line_; }

  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const;

 private:
  const Json* value_;
  std::string file_;
  std::size_t line_;
  std::string path_;
};

// Calls `use` with every non-empty line of a file of JSON objects. Throws InputError where a line is not one.
void for_each_json_line(const std::string& path, const std::function<void(const JsonPlace&)>& use);

}  // namespace metactrl::benchmarks::virtualhome

#endif  // METACTRL_SRC_BENCHMARKS_VIRTUALHOME_JSON_FIELDS_H_
