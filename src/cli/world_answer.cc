// Answers come from a program that may be wrong in any way: every field is checked for its kind, and a message says which
// line was bad and what was expected.
#include "cli/world_answer.h"

#include <vector>

#include "cli/common.h"
#include "support/str_cat.h"
#include "text/quote.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

// Bytes of a world's own message that are shown.
constexpr std::size_t kMaxMessage = 500;

[[noreturn]] void refuse(const std::string& line, const std::string& what) {
  throw WorldError(str_cat("the world answered '", text::printable(line), "': ", what));
}

std::string compact(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

Json parse(const std::string& line) {
  Json json = parse_shallow(line);
  if (json.is_discarded())
    refuse(
        line,
        "that is not JSON, or deeper than JSON should be; write one object a line and nothing else to standard output");
  if (!json.is_object()) refuse(line, "that is not a JSON object");
  const auto error = json.find("error");
  if (error != json.end()) {
    throw WorldError(
        str_cat("the world reports: ",
                text::printable(error->is_string() ? error->get<std::string>() : compact(*error), kMaxMessage)));
  }
  return json;
}

Json parse_answer(const std::string& line, std::uint64_t id) {
  Json json = parse(line);
  const auto found = json.find("id");
  if (found == json.end()) refuse(line, str_cat("it has no \"id\"; the request's was ", id));
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() != id) {
    refuse(line, str_cat("its \"id\" is ", text::printable(compact(*found)), ", but the request's was ", id));
  }
  return json;
}

std::vector<std::string> strings(const Json& json, const std::string& line, const char* name) {
  if (!json.is_array()) refuse(line, str_cat("\"", name, "\" must be a list of strings"));
  std::vector<std::string> out;
  for (const Json& item : json) {
    if (!item.is_string()) refuse(line, str_cat("\"", name, "\" must be a list of strings"));
    out.push_back(item.get<std::string>());
  }
  return out;
}

double probability(const Json& json, const std::string& line) {
  const auto found = json.find("p");
  if (found == json.end()) return 1;
  if (!found->is_number()) refuse(line, "\"p\" must be a number from 0 to 1");
  return found->get<double>();
}

// "(on cup table)", {"fact": "(on cup table)", "p": 0.9}, or {"one_of": [{"facts": [...], "p": 0.6}, ...]}
Sighting read_sighting(const Json& item, const std::string& line) {
  constexpr const char* kExpected =
      "an item of \"facts\" is a string, {\"fact\": ..., \"p\": ...} or {\"one_of\": [{\"facts\": [...], \"p\": ...}]}";
  if (item.is_string()) return {{{{item.get<std::string>()}, 1}}};
  if (!item.is_object()) refuse(line, kExpected);
  const auto fact = item.find("fact");
  if (fact != item.end() && fact->is_string()) return {{{{fact->get<std::string>()}, probability(item, line)}}};
  const auto one_of = item.find("one_of");
  if (one_of == item.end() || !one_of->is_array()) refuse(line, kExpected);
  Sighting sighting;
  for (const Json& alternative : *one_of) {
    if (!alternative.is_object() || !alternative.contains("facts") || !alternative.contains("p"))
      refuse(line, kExpected);
    sighting.alternatives.push_back({strings(alternative["facts"], line, "facts"), probability(alternative, line)});
  }
  return sighting;
}

}  // namespace

bool read_greeting(const std::string& text, std::uint64_t id) {
  const Json json = parse_answer(text, id);
  const auto protocol = json.find("protocol");
  if (protocol == json.end() || *protocol != 1) refuse(text, "a greeting needs \"protocol\": 1");
  const auto look = json.find("look");
  if (look != json.end() && !look->is_boolean()) refuse(text, "\"look\" must be true or false");
  return look != json.end() && look->get<bool>();
}

Observation read_observation(const std::string& text, std::uint64_t id) {
  const Json json = parse_answer(text, id);
  Observation observation;
  const auto facts = json.find("facts");
  if (facts == json.end() || !facts->is_array()) refuse(text, "an observation needs \"facts\", a list");
  for (const Json& item : *facts) observation.sightings.push_back(read_sighting(item, text));
  if (const auto unseen = json.find("unseen"); unseen != json.end()) {
    observation.unseen = strings(*unseen, text, "unseen");
  }
  if (const auto complete = json.find("complete"); complete != json.end()) {
    if (!complete->is_boolean()) refuse(text, "\"complete\" must be true or false");
    observation.complete = complete->get<bool>();
  }
  return observation;
}

Execution read_execution(const std::string& text, std::uint64_t id) {
  const Json json = parse_answer(text, id);
  const auto done = json.find("done");
  if (done == json.end() || !done->is_boolean()) refuse(text, "an execution needs \"done\", true or false");
  Execution execution{done->get<bool>(), ""};
  if (const auto message = json.find("message"); message != json.end()) {
    if (!message->is_string()) refuse(text, "\"message\" must be a string");
    execution.message = message->get<std::string>();
  }
  return execution;
}

}  // namespace metactrl::cli
