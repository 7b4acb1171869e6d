#include "attack/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "support/str_cat.h"

namespace metactrl::attack {

using internal::str_cat;

namespace {

constexpr std::size_t kKeptViolations = 100;

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += std::string("\\") + c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", byte);
      out += buffer;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string fault_list(const Tally& tally) {
  std::string out;
  for (std::size_t i = 1; i < kNumFaults; ++i) {
    if (tally.faults[i] == 0) continue;
    out += str_cat(out.empty() ? "" : ", ", to_string(static_cast<Fault>(i)), " ", grouped(tally.faults[i]));
  }
  return out.empty() ? "none" : out;
}

// The last columns of every table.
std::string tally_row(const Tally& tally) {
  return str_cat(grouped(tally.plans), " | ", fault_list(tally), " | ", grouped(tally.actions), " | ",
                 grouped(tally.tokens), " | ", grouped(tally.model_calls), " |\n");
}

std::string header(const std::string& first_columns, std::size_t count) {
  std::string out = "| " + first_columns + " | plans | violations | actions | tokens | model calls |\n|";
  for (std::size_t i = 0; i < count; ++i) out += "---|";
  return out + "--:|---|--:|--:|--:|\n";
}

std::string json_tally(const Tally& tally) {
  std::string out = str_cat("\"plans\": ", tally.plans, ", \"valid\": ", tally.valid(), ", \"violations\": {");
  bool first = true;
  for (std::size_t i = 1; i < kNumFaults; ++i) {
    if (tally.faults[i] == 0) continue;
    out += str_cat(first ? "" : ", ", json_string(to_string(static_cast<Fault>(i))), ": ", tally.faults[i]);
    first = false;
  }
  return out + str_cat("}, \"actions\": ", tally.actions, ", \"tokens\": ", tally.tokens,
                       ", \"model_calls\": ", tally.model_calls, ", \"particles\": ", tally.particles,
                       ", \"asked_val\": ", tally.asked_val);
}

}  // namespace

std::string set_of(const std::string& family) {
  std::size_t end = family.find('/');
  if (family.starts_with("pddl21/") || family.starts_with("prompts/")) end = family.find('/', end + 1);
  return family.substr(0, end);
}

std::string grouped(std::size_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3;) {
    at -= 3;
    out.insert(at, ",");
  }
  return out;
}

Tally& Tally::operator+=(const Tally& other) {
  plans += other.plans;
  for (std::size_t i = 0; i < kNumFaults; ++i) faults[i] += other.faults[i];
  actions += other.actions;
  tokens += other.tokens;
  model_calls += other.model_calls;
  particles += other.particles;
  asked_val += other.asked_val;
  return *this;
}

void Report::add(const std::string& family, const Cell& cell, const std::string& model, const std::string& format,
                 const std::string& vocabulary, const Tally& tally) {
  cells_[{family, cell.guidance, cell.decode}] += tally;
  models_[{model, cell.guaranteed() ? "mask and above" : cell.guidance}] += tally;
  if (!cell.guaranteed()) return;
  formats_[format] += tally;
  vocabularies_[vocabulary] += tally;
}

void Report::add_violation(Violation violation) {
  if (violations_.size() < kKeptViolations) violations_.push_back(std::move(violation));
}

void Report::add_note(const std::string& heading, const std::string& text) {
  std::vector<std::string>& lines = notes_[heading];
  if (std::find(lines.begin(), lines.end(), text) == lines.end()) lines.push_back(text);
}

Tally Report::guaranteed() const {
  Tally total;
  for (const auto& [key, tally] : cells_) {
    if (Cell{std::get<1>(key), ""}.guaranteed()) total += tally;
  }
  return total;
}

Tally Report::without(const std::string& guidance) const {
  Tally total;
  for (const auto& [key, tally] : cells_) {
    if (std::get<1>(key) == guidance) total += tally;
  }
  return total;
}

std::string Report::markdown(const std::string& command, double seconds) const {
  const Tally all = guaranteed();
  std::string out = "# The guarantee, attacked\n\n";
  out += str_cat("`", command, "`, ", static_cast<int>(std::lround(seconds)), " seconds of one core.\n\n");
  out += str_cat("With a guarantee: ", grouped(all.plans), " plans and ", grouped(all.particles),
                 " more particles of smc, ", grouped(all.actions), " actions, ", grouped(all.tokens),
                 " tokens: ", grouped(all.violations()), " violations.");
  out += all.asked_val == 0 ? " VAL judged none.\n" : str_cat(" VAL judged ", grouped(all.asked_val), ".\n");

  std::map<std::pair<std::string, std::string>, Tally> ways;
  std::map<std::string, Tally> families;
  for (const auto& [key, tally] : cells_) {
    ways[{std::get<1>(key), std::get<2>(key)}] += tally;
    if (Cell{std::get<1>(key), ""}.guaranteed()) families[std::get<0>(key)] += tally;
  }
  out += "\n## By guidance and decoding\n\n" + header("guidance | decode", 2);
  for (const auto& [key, tally] : ways) out += str_cat("| ", key.first, " | ", key.second, " | ", tally_row(tally));
  out += "\n## By domain, with a guarantee\n\n" + header("domain | tasks", 2);
  for (const auto& [family, tally] : families) {
    const auto tasks = tasks_.find(family);
    out += str_cat("| ", family, " | ", tasks == tasks_.end() ? 0 : tasks->second, " | ", tally_row(tally));
  }
  out += "\n## By model\n\n" + header("model | guidance", 2);
  for (const auto& [key, tally] : models_) out += str_cat("| ", key.first, " | ", key.second, " | ", tally_row(tally));
  out += "\n## By format, with a guarantee\n\n" + header("format", 1);
  for (const auto& [name, tally] : formats_) out += str_cat("| ", name, " | ", tally_row(tally));
  out += "\n## By vocabulary, with a guarantee\n\n" + header("vocabulary", 1);
  for (const auto& [name, tally] : vocabularies_) out += str_cat("| ", name, " | ", tally_row(tally));
  out += "\n## By domain, guidance and decoding\n\n" + header("domain | guidance | decode", 3);
  for (const auto& [key, tally] : cells_) {
    out += str_cat("| ", std::get<0>(key), " | ", std::get<1>(key), " | ", std::get<2>(key), " | ", tally_row(tally));
  }
  for (const auto& [heading, lines] : notes_) {
    out += str_cat("\n## ", heading, " (", lines.size(), ")\n\n");
    for (const std::string& line : lines) out += "- " + line + "\n";
  }
  if (!violations_.empty()) out += "\n## Violations\n\n";
  for (const Violation& violation : violations_) {
    out +=
        str_cat("- ", violation.where, ": ", to_string(violation.finding.fault), ": ", violation.finding.detail, "\n");
  }
  return out;
}

std::string Report::json(const std::string& command, double seconds) const {
  std::string out =
      str_cat("{\"command\": ", json_string(command), ", \"seconds\": ", static_cast<int>(std::lround(seconds)),
              ",\n\"guaranteed\": {", json_tally(guaranteed()), "},\n\"cells\": [\n");
  bool first = true;
  for (const auto& [key, tally] : cells_) {
    out +=
        str_cat(first ? "" : ",\n", "{\"domain\": ", json_string(std::get<0>(key)),
                ", \"set\": ", json_string(set_of(std::get<0>(key))), ", \"guidance\": ", json_string(std::get<1>(key)),
                ", \"decode\": ", json_string(std::get<2>(key)), ", ", json_tally(tally), "}");
    first = false;
  }
  out += "],\n\"models\": [\n";
  first = true;
  for (const auto& [key, tally] : models_) {
    out += str_cat(first ? "" : ",\n", "{\"model\": ", json_string(key.first),
                   ", \"guidance\": ", json_string(key.second), ", ", json_tally(tally), "}");
    first = false;
  }
  out += "],\n\"vocabularies\": [\n";
  first = true;
  for (const auto& [name, tally] : vocabularies_) {
    out += str_cat(first ? "" : ",\n", "{\"vocabulary\": ", json_string(name), ", ", json_tally(tally), "}");
    first = false;
  }
  out += "],\n\"notes\": {";
  first = true;
  for (const auto& [heading, lines] : notes_) {
    out += str_cat(first ? "" : ",", "\n", json_string(heading), ": [");
    for (std::size_t i = 0; i < lines.size(); ++i) out += (i == 0 ? "" : ", ") + json_string(lines[i]);
    out += "]";
    first = false;
  }
  out += "},\n\"violations\": [";
  for (std::size_t i = 0; i < violations_.size(); ++i) {
    out += str_cat(i == 0 ? "\n" : ",\n", "{\"where\": ", json_string(violations_[i].where),
                   ", \"kind\": ", json_string(to_string(violations_[i].finding.fault)),
                   ", \"detail\": ", json_string(violations_[i].finding.detail), "}");
  }
  return out + "]}\n";
}

}  // namespace metactrl::attack
