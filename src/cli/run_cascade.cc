#include "cli/run_cascade.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "metactrl/error.h"
#include "support/files.h"
#include "support/str_cat.h"
#include "support/words.h"

namespace metactrl::cli {

using internal::str_cat;

Stages stages_of(const Scene& scene, const SceneState& start, const LoopReport& report, bool goal_is_true) {
  Stages stages;
  stages.reached = goal_is_true && is_success(report.end);
  const auto first = std::find_if(report.events.begin(), report.events.end(),
                                  [](const LoopEvent& event) { return event.kind == LoopEvent::Kind::kPlanned; });
  if (first == report.events.end()) {  // nothing to do, or so it seemed
    stages.planning = is_success(report.end);
    stages.perception = stages.planning && scene.is_goal(start);
  } else {
    stages.planning = first->outcome == PlanOutcome::kPlan && first->holds_in == first->states;
    stages.perception = stages.planning && scene.validate(start, first->plan).valid;
  }
  stages.execution = stages.perception && stages.reached;
  return stages;
}

CascadeRow cascade_row(const std::string& task, const std::string& guidance, const std::vector<Episode>& episodes) {
  CascadeRow row;
  row.task = task;
  row.guidance = guidance;
  for (const Episode& episode : episodes) {
    if (!episode.stages) continue;
    ++row.rollouts;
    row.planning += episode.stages->planning ? 1 : 0;
    row.perception += episode.stages->perception ? 1 : 0;
    row.execution += episode.stages->execution ? 1 : 0;
    row.reached += episode.stages->reached ? 1 : 0;
  }
  return row;
}

std::string cascade_markdown(const std::vector<CascadeRow>& rows) {
  std::string out =
      "| task | guidance | rollouts | planning | perception | execution | goal reached, re-planning included |\n"
      "|---|---|---:|---:|---:|---:|---:|\n";
  for (const CascadeRow& row : rows) {
    out += str_cat("| ", row.task, " | ", row.guidance, " | ", row.rollouts, " | ", row.planning, " | ", row.perception,
                   " | ", row.execution, " | ", row.reached, " |\n");
  }
  return out;
}

Json cascade_json(const std::vector<CascadeRow>& rows) {
  Json json = Json::array();
  for (const CascadeRow& row : rows) {
    json.push_back({{"task", row.task},
                    {"guidance", row.guidance},
                    {"rollouts", row.rollouts},
                    {"planning", row.planning},
                    {"perception", row.perception},
                    {"execution", row.execution},
                    {"reached", row.reached}});
  }
  return json;
}

namespace {

struct StageBar {
  std::size_t CascadeRow::*count;
  const char* name;
  const char* colour;
};
constexpr std::array<StageBar, 3> kStageBars = {{{&CascadeRow::planning, "planning", "#1b6ca8"},
                                                 {&CascadeRow::perception, "perception", "#e0a030"},
                                                 {&CascadeRow::execution, "execution", "#5a8f3c"}}};

std::string svg_text(double x, double y, const char* anchor, const std::string& text) {
  return str_cat("<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor, "\" font-size=\"11\">",
                 internal::markup_text(text), "</text>\n");
}

std::string svg_box(double x, double y, double width, double height, const char* colour) {
  return str_cat("<rect x=\"", x, "\" y=\"", y, "\" width=\"", width, "\" height=\"", height, "\" fill=\"", colour,
                 "\"/>\n");
}

}  // namespace

std::string cascade_plot(const std::vector<CascadeRow>& rows) {
  constexpr double kLeft = 48;
  constexpr double kTop = 40;
  constexpr double kHeight = 180;
  constexpr double kGroup = 120;
  constexpr double kBar = 30;
  const double width = kLeft + kGroup * static_cast<double>(std::max<std::size_t>(rows.size(), 3)) + 16;
  std::string out = str_cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"",
                            kTop + kHeight + 48, "\" font-family=\"sans-serif\" fill=\"#222\" role=\"img\">\n",
                            "<title>Rollouts that pass each stage, in percent</title>\n");
  for (std::size_t i = 0; i < kStageBars.size(); ++i) {
    const double x = kLeft + 110 * static_cast<double>(i);
    out += svg_box(x, 12, 12, 12, kStageBars[i].colour) + svg_text(x + 18, 22, "start", kStageBars[i].name);
  }
  for (const int percent : {0, 50, 100}) {
    const double y = kTop + kHeight * (1 - percent / 100.0);
    out +=
        str_cat("<line x1=\"", kLeft, "\" y1=\"", y, "\" x2=\"", width - 16, "\" y2=\"", y, "\" stroke=\"#ccc\"/>\n") +
        svg_text(kLeft - 6, y + 4, "end", str_cat(percent, " %"));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double left = kLeft + kGroup * static_cast<double>(i) + 12;
    for (std::size_t k = 0; k < kStageBars.size(); ++k) {
      const std::size_t count = rows[i].*kStageBars[k].count;
      const double share =
          rows[i].rollouts == 0 ? 0 : static_cast<double>(count) / static_cast<double>(rows[i].rollouts);
      const double x = left + kBar * static_cast<double>(k);
      const double y = kTop + kHeight * (1 - share);
      out += svg_box(x, y, kBar - 4, kHeight * share, kStageBars[k].colour) +
             svg_text(x + kBar / 2 - 2, y - 3, "middle", str_cat(count));
    }
    out += svg_text(left + 1.5 * kBar, kTop + kHeight + 16, "middle", rows[i].task) +
           svg_text(left + 1.5 * kBar, kTop + kHeight + 32, "middle", rows[i].guidance);
  }
  return out + "</svg>\n";
}

void write_cascade(const std::string& folder, const std::vector<CascadeRow>& rows) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw InputError(folder, str_cat("cannot be made a folder: ", error.message()), "name another folder");
  const std::filesystem::path path(folder);
  internal::write_file((path / "cascade.md").string(), cascade_markdown(rows));
  internal::write_file((path / "cascade.json").string(), cascade_json(rows).dump(2) + "\n");
  internal::write_file((path / "cascade.svg").string(), cascade_plot(rows));
}

}  // namespace metactrl::cli
