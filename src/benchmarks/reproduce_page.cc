// The tables as a page. Its text is that of tables.md, block by block, so that the two say the same: headings, paragraphs,
// tables, and in the places of pictures the plots themselves, which take the page's colours. Everything is escaped:
// names come from files.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/page_files.h"
#include "benchmarks/report.h"
#include "benchmarks/reproduce_tables.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

// `code` in a line of text.
std::string inline_html(std::string_view text) {
  std::string out;
  bool code = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '`') continue;
    out += internal::markup_text(mended_utf8(std::string(text.substr(begin, i - begin))));
    if (i < text.size()) {
      out += code ? "</code>" : "<code>";
      code = !code;
    }
    begin = i + 1;
  }
  return code ? out + "</code>" : out;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  line.remove_prefix(1);
  while (!line.empty()) {
    const std::size_t end = std::min(line.find('|'), line.size());
    std::string_view cell = line.substr(0, end);
    while (cell.starts_with(' ')) cell.remove_prefix(1);
    while (cell.ends_with(' ')) cell.remove_suffix(1);
    cells.push_back(inline_html(cell));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

// The lines of a table: names of columns, a rule, rows. A row begins with its name.
std::string table_html(const std::vector<std::string_view>& lines) {
  std::string out = "<div class=\"wide card\" tabindex=\"0\"><table><thead><tr>";
  for (const std::string& cell : cells_of(lines.front())) out += str_cat("<th scope=\"col\">", cell, "</th>");
  out += "</tr></thead><tbody>\n";
  for (std::size_t i = 2; i < lines.size(); ++i) {
    const std::vector<std::string> cells = cells_of(lines[i]);
    out += str_cat("<tr><th scope=\"row\">", cells.empty() ? "" : cells.front(), "</th>");
    for (std::size_t j = 1; j < cells.size(); ++j) out += str_cat("<td>", cells[j], "</td>");
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string body_html(const std::string& markdown, const std::vector<ModuleResult>& modules) {
  std::string out;
  std::vector<std::string_view> block;
  std::size_t plots = 0;
  const auto end_block = [&] {
    if (block.empty()) return;
    const std::string_view first = block.front();
    if (first.starts_with("|")) {
      out += table_html(block);
    } else if (first.starts_with("## ")) {
      out += str_cat("<h2>", inline_html(first.substr(3)), "</h2>\n");
    } else if (first.starts_with("![") && plots < modules.size()) {
      out += str_cat("<figure class=\"card\">\n", module_plot(modules[plots++], PlotIn::kPage), "</figure>\n");
    } else {
      std::string text;
      for (const std::string_view line : block) text += str_cat(text.empty() ? "" : " ", line);
      out += str_cat(text.starts_with("Not complete") ? "<p class=\"note warn\">" : "<p>", inline_html(text), "</p>\n");
    }
    block.clear();
  };
  for (const std::string_view line : lines_of(markdown)) {
    if (line.empty()) {
      end_block();
    } else {
      block.push_back(line);
    }
  }
  end_block();
  return out;
}

// Who answered, by which rules, and when.
std::string about_html(const std::vector<ModuleResult>& modules, const TablesAbout& about) {
  std::vector<std::string> guidance;
  std::set<std::string> rules;
  if (!modules.empty()) {
    for (const RowResult& row : modules.front().rows) {
      const std::string name(facts_of(row.row.row).name);
      if (std::find(guidance.begin(), guidance.end(), name) == guidance.end()) guidance.push_back(name);
      rules.insert(to_string(row.row.rules));
    }
  }
  const bool prompts = about.settings.is_object() && about.settings.contains("prompt");
  const bool planner = about.settings.is_object() && about.settings.contains("planner");
  std::string out = "<dl class=\"about\">\n";
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) out += str_cat("<div><dt>", name, "</dt><dd>", inline_html(value), "</dd></div>\n");
  };
  add("Model", about.model.empty() ? "none" : about.model);
  add("Guidance", join(guidance, ", "));
  add("Rules", join(std::vector<std::string>(rules.begin(), rules.end()), ", "));
  add("Date", about.date);
  add("Tasks", sample_text(modules));
  add("Prompts", prompts ? about.settings["prompt"].get<std::string>() : "");
  add("Classical planner", planner ? about.settings["planner"].get<std::string>() : "");
  return out + "</dl>\n";
}

}  // namespace

std::string tables_page(const std::vector<ModuleResult>& modules, const TablesAbout& about) {
  return fill_page("tables.html",
                   {{"@TITLE@", "Tables of Meta-Ctrl"},
                    {"@STYLE@", page_style()},
                    {"@BODY@", str_cat("<h1>Tables</h1>\n<p class=\"soft\"><code>",
                                       internal::markup_text(mended_utf8(about.command)), "</code></p>\n",
                                       about_html(modules, about), body_html(tables_body(modules, about), modules))}});
}

}  // namespace metactrl::benchmarks
