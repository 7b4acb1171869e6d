// The page of a report: web/report.html with the data of the run put in.
//
// The data is one JSON value in a script element of a type that browsers do not run; the page's own script reads it and
// puts every text into the document as text. Inside the element only "<" could end it early or open a comment, and in
// JSON that character stands in strings alone, where it may be written as an escape.
#include <map>
#include <string>

#include "benchmarks/page_files.h"
#include "benchmarks/report.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

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
          {"date", report.date},
          {"answered", report.run.date},
          {"settings", report.run.settings},
          {"quality", quality_json(report)},
          {"score", score}};
}

}  // namespace

std::string report_page(const Report& report) {
  return fill_page("report.html", {{"@TITLE@", internal::markup_text(mended_utf8(report.title))},
                                   {"@STYLE@", page_style()},
                                   {"@DATA@", script_json(page_data(report))}});
}

}  // namespace metactrl::benchmarks
