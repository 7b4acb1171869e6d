// Shortens a prompt's lines one by one, by their form:
//
//     character, id: 65, properties: []                       character 65
//     desk, states: ['CLEAN'], properties:['MOVABLE']         desk: CLEAN
//     <cup> (3) is ON to <table> (4)                          cup 3 ON table 4
//     | floor.76 | Floor | ['SURFACES'] |                     floor.76 (Floor): SURFACES
//     ['inside', 'peach_0', 'fridge_97']                      inside peach_0 fridge_97
//     {'name': 'peach_0', 'category': 'peach.n.03'}           peach_0 (peach.n.03)
//
// A line of another form stays as it is, but for rulers and empty lines.
#include "benchmarks/compact_prompt.h"

#include <set>
#include <stdexcept>
#include <vector>

#include "benchmarks/prompt_lines.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

// "['A', 'B']" as "A, B"; the text itself when it is no list.
std::string plain_list(std::string_view list, const char* separator) {
  std::vector<std::string> words;
  if (!read_word_list(list, words)) return std::string(list);
  return join(words, separator);
}

std::string with_properties(const std::string& name, std::string_view list) {
  const std::string properties = plain_list(trim(list), ", ");
  return properties.empty() ? name : str_cat(name, ": ", properties);
}

class Shortener {
 public:
  // The line's short form; empty when it says nothing new.
  std::string shorten(std::string_view line) {
    if (line.find_first_not_of('-') == std::string_view::npos) return {};
    if (line.starts_with('<')) return relation(line);
    if (line.starts_with('|')) return table_row(line);
    if (line.starts_with('{')) return named_object(line);
    if (line.starts_with("[Actions Must Include]")) return "Actions that must occur, in this order:";
    if (line == "[States]") return {};
    if (line.starts_with('[')) return plain_list(line, " ");
    if (line.find(", id: ") != std::string_view::npos) return object(line);
    if (line.find(", states: ") != std::string_view::npos) return states(line);
    return std::string(line);
  }

 private:
  static std::string object(std::string_view line) {
    const std::string name(line.substr(0, line.find(", id: ")));
    const std::string_view rest = line.substr(line.find(", id: ") + 6);
    const std::size_t comma = rest.find(", properties:");
    const std::string named = str_cat(name, " ", rest.substr(0, comma));
    return comma == std::string_view::npos ? named : with_properties(named, rest.substr(comma + 13));
  }

  static std::string states(std::string_view line) {
    const std::string name(line.substr(0, line.find(", states: ")));
    if (line.find(", properties:") == std::string_view::npos) return std::string(line);
    const std::string_view list = between(line, ", states: ", ", properties:");
    const std::string states = plain_list(trim(list), ", ");
    return states.empty() ? std::string() : str_cat(name, ": ", states);
  }

  // "<a> (1) is NEAR to <b> (2)"
  std::string relation(std::string_view line) {
    const std::size_t is = line.find(" is ");
    const std::size_t to = line.find(" to <");
    if (is == std::string_view::npos || to == std::string_view::npos || to < is) return std::string(line);
    const auto thing = [](std::string_view text) {
      std::string out;
      for (const char c : text) {
        if (c != '<' && c != '>' && c != '(' && c != ')') out += c;
      }
      return out;
    };
    const std::string a = thing(line.substr(0, is));
    const std::string b = thing(line.substr(to + 4));
    const std::string_view how = line.substr(is + 4, to - is - 4);
    if (how == "NEAR" && !near_.insert(a < b ? str_cat(a, " ", b) : str_cat(b, " ", a)).second) return {};
    return str_cat(a, " ", how, " ", b);
  }

  static std::string table_row(std::string_view line) {
    const std::vector<std::string_view> cells = split(line, "|");
    if (cells.size() != 5) return std::string(line);
    return with_properties(str_cat(trim(cells[1]), " (", trim(cells[2]), ")"), cells[3]);
  }

  static std::string named_object(std::string_view line) {
    const std::string_view name = between(line, "'name': '", "'");
    const std::string_view category = between(line, "'category': '", "'");
    if (name.empty() || category.empty()) return std::string(line);
    return str_cat(name, " (", category, ")");
  }

  std::set<std::string> near_;
};

// The rest of the line behind `key`; takes the line off the text.
std::string_view header(std::string_view& text, std::string_view key) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  if (end == std::string_view::npos || !line.starts_with(key)) {
    throw std::logic_error(str_cat("a compact prompt's frame has no line '", key, "' where it should"));
  }
  text.remove_prefix(end + 1);
  return trim(line.substr(key.size()));
}

}  // namespace

std::string compact_facts(std::string_view lines) {
  Shortener shortener;
  std::string out;
  for (const std::string_view line : split(lines, "\n")) {
    const std::string shortened = shortener.shorten(trim(line));
    if (!shortened.empty()) out += (out.empty() ? "" : "\n") + shortened;
  }
  return out;
}

std::string compact_prompt(std::string_view frame, std::string_view prompt) {
  const std::string_view from = header(frame, "from:");
  const std::string_view to = header(frame, "to:");
  header(frame, "---");
  constexpr std::string_view kTask = "{task}";
  const std::size_t hole = frame.find(kTask);
  if (hole == std::string_view::npos) throw std::logic_error("a compact prompt's frame has no {task}");

  // The constant part of a prompt may hold examples in the same form.
  const std::string text = str_cat("\n", prompt);
  const std::size_t begin = text.rfind(str_cat("\n", from));
  const std::size_t end = begin == std::string::npos ? begin : text.find(str_cat("\n", to), begin);
  if (end == std::string::npos) {
    PromptLines::fail_at(0, str_cat("the prompt has no lines '", from, "' and '", to, "'"),
                         "is it a prompt of this module?");
  }
  return str_cat(frame.substr(0, hole), compact_facts(std::string_view(text).substr(begin, end - begin)),
                 trim(frame.substr(hole + kTask.size())).empty() ? "" : "\n\n",
                 trim(frame.substr(hole + kTask.size())));
}

}  // namespace metactrl::benchmarks
