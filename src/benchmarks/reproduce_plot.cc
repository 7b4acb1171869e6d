// A module's rows as a bar chart, in SVG that needs nothing else: two bars a row, task success and execution success,
// each with its 95 % interval as a whisker. Colours are those of theme.css, light or dark as the reader's screen is: a
// file has them in itself, a plot in a page takes the page's.
#include <algorithm>
#include <string>

#include "benchmarks/page_files.h"
#include "benchmarks/report.h"
#include "benchmarks/reproduce_tables.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

constexpr double kLeft = 56;
constexpr double kTop = 64;
constexpr double kHeight = 220;
constexpr double kGroup = 92;
constexpr double kBar = 30;
constexpr const char* kStyle =
    ".plot text{fill:var(--text);font-family:system-ui,sans-serif}.plot .paper{fill:var(--panel)}"
    ".plot .task{fill:var(--plot-1)}.plot .execution{fill:var(--plot-2)}"
    ".plot .whisker{stroke:var(--text)}.plot .rule{stroke:var(--line)}";

std::string number(double value) { return fixed_text(value, 1); }

double y_of(double percent) { return kTop + kHeight * (1 - percent / 100); }

std::string text_at(double x, double y, const std::string& anchor, const std::string& text, int size = 12) {
  return str_cat("<text x=\"", number(x), "\" y=\"", number(y), "\" text-anchor=\"", anchor, "\" font-size=\"", size,
                 "\">", internal::markup_text(text), "</text>\n");
}

std::string line(double x1, double y1, double x2, double y2, const char* kind) {
  return str_cat("<line x1=\"", number(x1), "\" y1=\"", number(y1), "\" x2=\"", number(x2), "\" y2=\"", number(y2),
                 "\" class=\"", kind, "\"/>\n");
}

std::string box(double x, double y, double width, double height, const char* kind) {
  return str_cat("<rect x=\"", number(x), "\" y=\"", number(y), "\" width=\"", number(width), "\" height=\"",
                 number(height), "\" class=\"", kind, "\"/>\n");
}

std::string bar(double x, double percent, std::size_t n, const char* kind) {
  std::string out = box(x, y_of(percent), kBar, kTop + kHeight - y_of(percent), kind);
  const Interval interval = wilson(percent * static_cast<double>(n) / 100, n);
  const double middle = x + kBar / 2;
  constexpr double kCap = 5;
  out += line(middle, y_of(interval.low), middle, y_of(interval.high), "whisker");
  out += line(middle - kCap, y_of(interval.low), middle + kCap, y_of(interval.low), "whisker");
  out += line(middle - kCap, y_of(interval.high), middle + kCap, y_of(interval.high), "whisker");
  out += text_at(middle, y_of(interval.high) - 4, "middle", fixed_text(percent, percent < 99.95 ? 1 : 0), 10);
  return out;
}

}  // namespace

std::string module_plot(const ModuleResult& module, PlotIn in) {
  const double width = kLeft + kGroup * static_cast<double>(std::max<std::size_t>(3, module.rows.size())) + 24;
  const double height = kTop + kHeight + 56;
  std::string out =
      str_cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(width), "\" height=\"", number(height),
              "\" viewBox=\"0 0 ", number(width), " ", number(height), "\" class=\"plot\" role=\"img\">\n<title>",
              internal::markup_text(module.title), "</title>\n<style>",
              in == PlotIn::kFile ? page_file("theme.css") : "", kStyle, "</style>\n");
  out += box(0, 0, width, height, "paper");
  out += text_at(kLeft, 22, "start", module.title, 15);
  out += box(kLeft, 32, 12, 12, "task") + text_at(kLeft + 18, 42, "start", "task success, %");
  out += box(kLeft + 130, 32, 12, 12, "execution") +
         text_at(kLeft + 148, 42, "start", "execution success, %; whiskers: 95 % intervals");
  for (int percent = 0; percent <= 100; percent += 25) {
    out += line(kLeft, y_of(percent), width - 16, y_of(percent), "rule");
    out += text_at(kLeft - 8, y_of(percent) + 4, "end", str_cat(percent));
  }
  for (std::size_t i = 0; i < module.rows.size(); ++i) {
    const RowResult& row = module.rows[i];
    const double x = kLeft + kGroup * static_cast<double>(i) + (kGroup - 2 * kBar) / 2;
    const double middle = x + kBar;
    if (const std::string missing = row.missing(); missing.empty()) {
      out += bar(x, row.score.task_success, row.score.n, "task");
      out += bar(x + kBar, row.score.execution_success, row.score.n, "execution");
    } else {
      out += text_at(middle, y_of(4), "middle", missing, 11);
    }
    out += text_at(middle, kTop + kHeight + 20, "middle", row.row.name(), 13);
    if (row.absent.empty()) out += text_at(middle, kTop + kHeight + 36, "middle", str_cat("n = ", row.score.n), 10);
  }
  return out + "</svg>\n";
}

}  // namespace metactrl::benchmarks
