// The page of a report: web/report.html with the data of the run put in.
//
// The data is one JSON value in a script element of a type that browsers do not run; the page's own script reads it and
// puts every text into the document as text. Inside the element only "<" could end it early or open a comment, and in
// JSON that character stands in strings alone, where it may be written as an escape.
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include "benchmarks/report.h"
#include "benchmarks/shipped_files.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

constexpr std::string_view kTitle = "@TITLE@";
constexpr std::string_view kData = "@DATA@";

std::string script_json(const Json& json) {
  std::string out;
  for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

Json page_data(const Report& report) {
  const std::map<std::string, const Answer*> answers = by_identifier(report.run.answers);
  Json score = to_json(report.score);
  for (Json& task : score["tasks"]) {
    const std::string identifier = task["identifier"];
    const auto answer = answers.find(identifier);
    if (answer != answers.end()) {
      task["answer"] = to_json(*answer->second);
      task["answer"].erase("output");  // the same as the response
    }
    const auto response = report.responses.find(identifier);
    if (response != report.responses.end()) task["response"] = response->second;
    const auto prompt = report.prompts.find(identifier);
    if (prompt != report.prompts.end()) task["prompt"] = prompt->second;
  }
  return {{"module", report.module},
          {"title", report.title},
          {"settings", report.run.settings},
          {"quality", quality_json(report)},
          {"score", score}};
}

}  // namespace

std::string report_page(const Report& report) {
  const std::string_view page = page_files().front().text;
  const std::size_t title = page.find(kTitle);
  const std::size_t data = page.find(kData);
  if (title == std::string_view::npos || data == std::string_view::npos || data < title)
    throw std::logic_error("report.html has no place for data");
  std::string out(page.substr(0, title));
  out += internal::markup_text(mended_utf8(report.title));
  out += page.substr(title + kTitle.size(), data - title - kTitle.size());
  out += script_json(page_data(report));
  out += page.substr(data + kData.size());
  return out;
}

}  // namespace metactrl::benchmarks
