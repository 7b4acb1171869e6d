// The bar chart of a module, read back from its SVG.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "benchmarks/reproduce_tables.h"

namespace metactrl::benchmarks::reproduce_plot_test {
namespace {

// Every element of a kind: the text between "<kind " and its end.
std::vector<std::string> elements(const std::string& svg, const std::string& kind) {
  std::vector<std::string> out;
  const std::string open = "<" + kind + " ";
  for (std::size_t at = svg.find(open); at != std::string::npos; at = svg.find(open, at + 1)) {
    const std::size_t end = svg.find(kind == "text" ? "</text>" : "/>", at);
    out.push_back(svg.substr(at, end - at));
  }
  return out;
}

double number(const std::string& element, const std::string& name) {
  const std::size_t at = element.find(" " + name + "=\"");
  EXPECT_NE(at, std::string::npos) << element;
  return std::atof(element.c_str() + at + name.size() + 3);
}

std::string kind(const std::string& element) {
  const std::size_t at = element.find("class=\"") + 7;
  return element.substr(at, element.find('"', at) - at);
}

// All bars of the kind of the legend's box number `which`, without that box.
std::vector<std::string> bars(const std::string& svg, std::size_t which) {
  const std::vector<std::string> all = elements(svg, "rect");
  std::vector<std::string> out;
  const std::string of_legend = kind(all.at(1 + which));  // the first is the background
  for (std::size_t i = 3; i < all.size(); ++i) {
    if (kind(all[i]) == of_legend) out.push_back(all[i]);
  }
  return out;
}

bool says(const std::string& svg, const std::string& text) {
  return svg.find(">" + text + "</text>") != std::string::npos;
}

RowResult row(Row which, double task, double execution, std::size_t n) {
  RowResult result;
  result.row = which;
  result.score.n = n;
  result.score.task_success = task;
  result.score.execution_success = execution;
  return result;
}

ModuleResult module(std::vector<RowResult> rows) {
  ModuleResult result;
  result.name = "m";
  result.title = "A & B <C>";
  result.rows = std::move(rows);
  return result;
}

TEST(ReproducePlot, BarsAreAsHighAsTheRatesAre) {
  const std::string svg = module_plot(module({row(Row::kSearch, 100, 100, 40), row(Row::kMask, 25, 50, 40)}));
  const std::vector<std::string> task = bars(svg, 0);
  const std::vector<std::string> execution = bars(svg, 1);
  ASSERT_EQ(task.size(), 2U);
  ASSERT_EQ(execution.size(), 2U);
  const double full = number(task[0], "height");
  EXPECT_GT(full, 0);
  EXPECT_NEAR(number(task[1], "height"), full / 4, 0.2);
  EXPECT_NEAR(number(execution[0], "height"), full, 0.2);
  EXPECT_NEAR(number(execution[1], "height"), full / 2, 0.2);
  // All stand on the same line, side by side.
  for (const std::string& bar : {task[1], execution[0], execution[1]}) {
    EXPECT_NEAR(number(bar, "y") + number(bar, "height"), number(task[0], "y") + full, 0.2);
  }
  EXPECT_LE(number(task[0], "x") + number(task[0], "width"), number(execution[0], "x") + 0.1);
  EXPECT_LE(number(execution[0], "x") + number(execution[0], "width"), number(task[1], "x") + 0.1);
  for (const char* text : {"100", "25.0", "50.0", "n = 40", "search", "mask"}) EXPECT_TRUE(says(svg, text)) << text;
}

TEST(ReproducePlot, WhiskersAreTheIntervals) {
  const std::string svg = module_plot(module({row(Row::kMask, 30, 70, 10)}));
  const std::string bar = bars(svg, 0).at(0);
  const double foot = number(bar, "y") + number(bar, "height");
  const double percent = number(bar, "height") / 30;
  const double middle = number(bar, "x") + number(bar, "width") / 2;
  const Interval interval = wilson(3, 10);
  bool found = false;
  for (const std::string& line : elements(svg, "line")) {
    if (std::abs(number(line, "x1") - middle) > 0.1 || std::abs(number(line, "x2") - middle) > 0.1) continue;
    found = true;
    EXPECT_NEAR(number(line, "y1"), foot - percent * interval.low, 0.5);
    EXPECT_NEAR(number(line, "y2"), foot - percent * interval.high, 0.5);
  }
  EXPECT_TRUE(found);
}

TEST(ReproducePlot, RowsWithoutRatesSayWhy) {
  RowResult absent = row(Row::kPlanner, 0, 0, 0);
  absent.absent = "not installed";
  RowResult crowded = row(Row::kMask, 0, 0, 0);
  crowded.no_room = 2;
  const std::string svg = module_plot(module({absent, crowded}));
  EXPECT_TRUE(bars(svg, 0).empty());
  EXPECT_TRUE(bars(svg, 1).empty());
  for (const char* text : {"not installed", "no room", "planner", "mask"}) EXPECT_TRUE(says(svg, text)) << text;
}

// No element has a colour of its own: a file brings the theme's, for light and for dark, and a page has them already.
TEST(ReproducePlot, ColoursAreTheThemes) {
  const ModuleResult one = module({row(Row::kSearch, 100, 40, 40)});
  const std::string file = module_plot(one);
  const std::string in_page = module_plot(one, PlotIn::kPage);
  for (const std::string& svg : {file, in_page}) {
    const std::string drawn = svg.substr(svg.find("</style>"));
    for (const char* colour : {"fill=", "stroke=", "#"}) EXPECT_EQ(drawn.find(colour), std::string::npos) << drawn;
    for (const std::string& box : elements(svg, "rect")) {
      EXPECT_NE(svg.find(".plot ." + kind(box) + "{"), std::string::npos) << box;
    }
  }
  for (const char* variable : {"--text:", "--panel:", "--line:", "--plot-1:", "--plot-2:"}) {
    const std::size_t light = file.find(variable);
    const std::size_t dark = file.find(variable, file.find("prefers-color-scheme: dark"));
    EXPECT_NE(light, std::string::npos) << variable;
    EXPECT_NE(dark, std::string::npos) << variable;
    EXPECT_LT(light, dark) << variable;
    EXPECT_EQ(in_page.find(variable), std::string::npos) << variable;
  }
}

TEST(ReproducePlot, EverythingIsInsideAndEscaped) {
  for (const std::size_t rows : {0U, 1U, 7U}) {
    const std::string svg = module_plot(module(std::vector<RowResult>(rows, row(Row::kMask, 100, 0, 1))));
    EXPECT_TRUE(svg.starts_with("<svg ")) << svg;
    EXPECT_TRUE(svg.ends_with("</svg>\n")) << svg;
    EXPECT_NE(svg.find("<title>A &amp; B &lt;C&gt;</title>"), std::string::npos) << svg;
    const double width = number(svg, "width");
    const double height = number(svg, "height");
    for (const std::string& box : elements(svg, "rect")) {
      EXPECT_LE(number(box, "x") + number(box, "width"), width);
      EXPECT_LE(number(box, "y") + number(box, "height"), height);
    }
    for (const std::string& text : elements(svg, "text")) {
      EXPECT_GT(number(text, "y"), 0);
      EXPECT_LT(number(text, "y"), height);
    }
  }
}

}  // namespace
}  // namespace metactrl::benchmarks::reproduce_plot_test
