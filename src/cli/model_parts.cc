#include "cli/model_parts.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

namespace metactrl::cli {

namespace {

constexpr std::size_t kDigits = 5;

std::optional<std::size_t> five_digits(std::string_view text) {
  std::size_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.size() != kDigits || failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string with_zeros(std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

}  // namespace

std::optional<PartName> parse_part_name(const std::string& file) {
  constexpr std::string_view kForm = "-00001-of-00003.gguf";
  if (file.size() <= kForm.size() || !file.ends_with(".gguf")) return std::nullopt;
  const std::string_view tail = std::string_view(file).substr(file.size() - kForm.size());
  const auto index = five_digits(tail.substr(1, kDigits));
  const auto count = five_digits(tail.substr(10, kDigits));
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || !index || !count) return std::nullopt;
  if (*index == 0 || *index > *count) return std::nullopt;
  return PartName{file.substr(0, file.size() - kForm.size()), *index, *count};
}

std::string part_file(const std::string& prefix, std::size_t index, std::size_t count) {
  if (count <= 1) return prefix + ".gguf";
  return prefix + "-" + with_zeros(index) + "-of-" + with_zeros(count) + ".gguf";
}

std::vector<std::string> all_parts(const std::string& file) {
  const std::optional<PartName> name = parse_part_name(file);
  if (!name || name->count == 1) return {file};
  std::vector<std::string> files;
  for (std::size_t i = 1; i <= name->count; ++i) files.push_back(part_file(name->prefix, i, name->count));
  return files;
}

std::string model_name_of(const std::string& file) {
  const std::optional<PartName> part = parse_part_name(file);
  return std::filesystem::path(part ? part->prefix + ".gguf" : file).stem().string();
}

}  // namespace metactrl::cli
