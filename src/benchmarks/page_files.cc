// Names in a page are looked for one behind the other, so that a text with such a name in it changes nothing.
#include "benchmarks/page_files.h"

#include <stdexcept>

#include "benchmarks/shipped_files.h"
#include "support/words.h"

namespace metactrl::benchmarks {

std::string_view page_file(std::string_view name) {
  for (const ShippedFile& file : page_files()) {
    if (file.name == name) return file.text;
  }
  throw std::logic_error(str_cat("no page ships by the name ", name));
}

std::string page_style() { return str_cat(page_file("theme.css"), page_file("look.css"), page_file("report.css")); }

std::string fill_page(std::string_view name, const std::vector<std::pair<std::string_view, std::string>>& texts) {
  std::string_view rest = page_file(name);
  std::string out;
  for (const auto& [place, text] : texts) {
    const std::size_t at = rest.find(place);
    if (at == std::string_view::npos) throw std::logic_error(str_cat(name, " has no place for ", place));
    out += rest.substr(0, at);
    out += text;
    rest.remove_prefix(at + place.size());
  }
  return out += rest;
}

}  // namespace metactrl::benchmarks
