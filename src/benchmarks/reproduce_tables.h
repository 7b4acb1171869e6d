// The tables and plots that `metactrl reproduce` writes.
//
//     write_tables("out", run.results(), about);   // out/index.html, out/tables.md, out/tables.json, out/vh-as.svg, ...
//
// Rates come with 95 % confidence intervals after Wilson, which stay inside 0 to 100 and do not collapse at the ends:
// 0 of 10 is 0 to 27.8 %. Cost: linear. Thread safety: all functions are pure but write_tables.
#ifndef METACTRL_SRC_BENCHMARKS_REPRODUCE_TABLES_H_
#define METACTRL_SRC_BENCHMARKS_REPRODUCE_TABLES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "benchmarks/information_audit.h"
#include "benchmarks/reproduce.h"
#include "benchmarks/two_levels.h"
#include "jobs/journal.h"

namespace metactrl::benchmarks {

// In percent.
struct Interval {
  double low = 0;
  double high = 100;
};

// The 95 % interval of a share of `successes` out of `n`; 0 to 100 for none at all.
Interval wilson(double successes, std::size_t n);

// What stands above the tables.
struct TablesAbout {
  std::string command;  // as it was typed
  std::string date;     // "2026-11-16"
  std::string model;    // its name and description; empty when no row needs one
  Json settings;
  // What is not answered yet, "vh-as mask: 3 of 10 missing"; the rates are over what is.
  std::vector<std::string> missing = {};
  std::vector<InformationAudit> audits = {};
  std::vector<TwoLevelsTable> levels = {};
};

Json tables_json(const std::vector<ModuleResult>& modules, const TablesAbout& about);
std::string tables_markdown(const std::vector<ModuleResult>& modules, const TablesAbout& about);
// Everything below the head of tables.md: the tables and what is said about them.
std::string tables_body(const std::vector<ModuleResult>& modules, const TablesAbout& about);
// "vh-as 158, vh-sd 20 of 156": which tasks were asked.
std::string sample_text(const std::vector<ModuleResult>& modules);
// The same as a page, with the plots in it; it asks for nothing outside itself.
std::string tables_page(const std::vector<ModuleResult>& modules, const TablesAbout& about);
// The table of all modules alone: task and execution success, in percent.
std::string overview_markdown(const std::vector<ModuleResult>& modules);
// Two bars per row, task and execution success, with their intervals.
enum class PlotIn { kFile, kPage };
std::string module_plot(const ModuleResult& module, PlotIn in = PlotIn::kFile);

// Throws InputError when a file cannot be written.
void write_tables(const std::string& folder, const std::vector<ModuleResult>& modules, const TablesAbout& about);

}  // namespace metactrl::benchmarks

#endif  // METACTRL_SRC_BENCHMARKS_REPRODUCE_TABLES_H_
