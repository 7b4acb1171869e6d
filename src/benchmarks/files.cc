#include "benchmarks/files.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <type_traits>
#include <utility>

#include "decode/names.h"
#include "metactrl/error.h"
#include "support/files.h"
#include "support/sha2.h"
#include "support/words.h"

namespace metactrl::benchmarks {

namespace {

// What the parser says, without its own codes and without what it last read, which may be the whole file.
std::string plain(std::string message) {
  if (const std::size_t code = message.find("] "); message.starts_with('[') && code != std::string::npos) {
    message.erase(0, code + 2);
  }
  if (const std::size_t read = message.find("; last read"); read != std::string::npos) message.resize(read);
  constexpr std::size_t kMaxShown = 200;
  if (message.size() > kMaxShown) message.resize(kMaxShown);
  for (char& c : message) c = c < 0x20 || c > 0x7e ? '?' : c;
  return message;
}

Json parse_json(const std::string& file) {
  const std::string text = internal::read_file(file);
  if (text.empty()) throw InputError(file, "the file is empty", "see the format in 'metactrl eval --help'");
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw InputError(file, str_cat("is not JSON: ", plain(error.what())), "see the format in 'metactrl eval --help'");
  }
}

const std::string& text_field(const Json& entry, const char* field, const std::string& file, std::size_t index) {
  if (!entry.is_object() || !entry.contains(field) || !entry[field].is_string()) {
    throw InputError(file, str_cat("entry ", index + 1, " has no text '", field, "'"),
                     str_cat("each entry is an object with \"identifier\" and \"", field, "\""));
  }
  return entry[field].get_ref<const std::string&>();
}

// A task's identifier, which benchmarks that number their tasks write as a number.
std::string identifier_field(const Json& entry, const std::string& file, std::size_t index) {
  constexpr const char* kField = "identifier";
  if (entry.is_object() && entry.contains(kField)) {
    if (entry[kField].is_string()) return entry[kField].get<std::string>();
    if (entry[kField].is_number_integer()) return entry[kField].dump();
  }
  throw InputError(file, str_cat("entry ", index + 1, " has no 'identifier' that is a text or a whole number"),
                   "write the task's identifier: {\"identifier\": \"7\", ...}");
}

// Calls take(identifier, text) for each entry of a list of objects.
template <typename Take>
void read_list(const std::string& file, const char* field, const Take& take) {
  const Json json = parse_json(file);
  if (!json.is_array())
    throw InputError(file, "is not a list", str_cat("write [{\"identifier\", \"", field, "\"}, ...]"));
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string identifier = identifier_field(json[i], file, i);
    take(identifier, text_field(json[i], field, file, i));
  }
}

// Calls visit(name, value) for the fields of an answer that are always written, in their order.
template <typename Answer, typename Visit>
void for_each_field(Answer& answer, const Visit& visit) {
  visit("identifier", answer.identifier);
  visit("output", answer.output);
  visit("title", answer.title);
  visit("error", answer.error);
  visit("fits", answer.fits);
  visit("outcome", answer.outcome);
  visit("guarantee", answer.guarantee);
  visit("reason", answer.reason);
  visit("steps", answer.steps);
  visit("goals_dropped", answer.goals_dropped);
  visit("drop_reasons", answer.drop_reasons);
  visit("assumptions", answer.assumptions);
  visit("notes", answer.notes);
  visit("tier", answer.tier);
  visit("weights", answer.weights);
  visit("horizon", answer.horizon);
  visit("ground_actions", answer.ground_actions);
  visit("prompt_tokens", answer.prompt_tokens);
  visit("tokens", answer.tokens);
  visit("forced_tokens", answer.forced_tokens);
  visit("model_calls", answer.model_calls);
}

template <typename Times, typename Visit>
void for_each_time(Times& times, const Visit& visit) {
  visit("read", times.read);
  visit("ground", times.ground);
  visit("lookahead", times.lookahead);
  visit("automaton", times.automaton);
  visit("prompt", times.prompt);
  visit("decode", times.decode);
}

// A fraction is no count, and may be larger than any. Throws a Json::exception.
void check_count(const Json& value) {
  if (!value.is_number_integer()) value.get_ref<const Json::number_unsigned_t&>();
}

template <typename T>
void get(const Json& json, const char* field, T& value) {
  if (!json.contains(field)) return;
  if (std::is_same_v<T, std::size_t>) check_count(json.at(field));
  json.at(field).get_to(value);
}

}  // namespace

std::vector<PromptEntry> read_prompts(const std::string& file) {
  std::vector<PromptEntry> prompts;
  std::set<std::string> seen;
  read_list(file, "llm_prompt", [&](const std::string& identifier, const std::string& text) {
    if (!seen.insert(identifier).second) {
      throw InputError(file, str_cat("has two prompts for '", identifier, "'"), "remove one of them");
    }
    prompts.push_back({identifier, text});
  });
  return prompts;
}

std::string read_system_prompt(const std::string& file) {
  const Json json = parse_json(file);
  if (!json.is_object() || !json.contains("system_prompt") || !json["system_prompt"].is_string()) {
    throw InputError(file, "has no text 'system_prompt'", "write {\"system_prompt\": \"...\"}");
  }
  return json["system_prompt"].get<std::string>();
}

std::optional<std::string> system_prompt_beside(const std::string& prompts_file) {
  const std::filesystem::path folder = std::filesystem::path(prompts_file).parent_path();
  std::error_code ignored;
  for (const char* name : {"sd_system.json", "system_setup.json"}) {
    const std::filesystem::path file = folder / name;
    if (std::filesystem::exists(file, ignored)) return read_system_prompt(file.string());
  }
  return std::nullopt;
}

std::vector<Response> read_responses(const std::string& file) {
  std::vector<Response> responses;
  read_list(file, "llm_output", [&](const std::string& identifier, const std::string& text) {
    responses.push_back({identifier, text});
  });
  return responses;
}

void write_prompts(const std::string& file, const std::vector<PromptEntry>& prompts) {
  Json list = Json::array();
  for (const PromptEntry& entry : prompts) {
    list.push_back({{"identifier", entry.identifier}, {"llm_prompt", entry.prompt}});
  }
  internal::write_file(file, jobs::dump(list, 1) + "\n");
}

void write_responses(const std::string& file, const std::vector<Response>& responses) {
  Json list = Json::array();
  for (const Response& response : responses) {
    list.push_back({{"identifier", response.identifier}, {"llm_output", response.output}});
  }
  internal::write_file(file, jobs::dump(list, 1) + "\n");
}

Json to_json(const Answer& answer) {
  Json json;
  for_each_field(answer, [&](const char* name, const auto& value) { json[name] = value; });
  for_each_time(answer.times, [&](const char* name, double value) { json["seconds"][name] = value; });
  if (!answer.goals_written.empty()) json["goals_written"] = answer.goals_written;
  if (answer.shortest) json["shortest"] = *answer.shortest;
  if (answer.log_probability) json["log_probability"] = *answer.log_probability;
  if (answer.thought) {
    json["reasoning"] = {{"text", answer.thought->text},
                         {"tokens", answer.thought->tokens},
                         {"forced_tokens", answer.thought->forced_tokens},
                         {"ended_by", to_string(answer.thought->ended_by)}};
  }
  if (answer.conditions.declared > 0) {
    json["conditions"] = {{"declared", answer.conditions.declared}, {"derivable", answer.conditions.derivable}};
  }
  if (answer.quality) {
    json["superfluous"] = answer.quality->superfluous;
    json["undone"] = answer.quality->undone;
  }
  return json;
}

Answer answer_from_json(const Json& json) {
  Answer answer;
  json.at("identifier").get_to(answer.identifier);
  json.at("output").get_to(answer.output);
  for_each_field(answer, [&](const char* name, auto& value) { get(json, name, value); });
  get(json, "goals_written", answer.goals_written);
  if (json.contains("seconds")) {
    for_each_time(answer.times, [&](const char* name, double& value) { get(json["seconds"], name, value); });
  }
  if (json.contains("shortest")) get(json, "shortest", answer.shortest.emplace());
  // What is not finite is written as null.
  if (json.contains("reasoning")) {
    const Json& reasoning = json["reasoning"];
    Thought& thought = answer.thought.emplace();
    get(reasoning, "text", thought.text);
    get(reasoning, "tokens", thought.tokens);
    get(reasoning, "forced_tokens", thought.forced_tokens);
    thought.ended_by =
        internal::value_named<Thought::End>(reasoning.value("ended_by", "budget")).value_or(Thought::End::kBudget);
  }
  if (json.contains("log_probability") && json["log_probability"].is_number()) {
    answer.log_probability = json["log_probability"].get<double>();
  }
  if (json.contains("conditions")) {
    get(json["conditions"], "declared", answer.conditions.declared);
    get(json["conditions"], "derivable", answer.conditions.derivable);
  }
  if (json.contains("superfluous") && json.contains("undone")) {
    answer.quality.emplace();
    get(json, "superfluous", answer.quality->superfluous);
    for (const Json& steps : json["undone"]) {
      for (const Json& step : steps) check_count(step);
    }
    get(json, "undone", answer.quality->undone);
  }
  return answer;
}

std::string digest(const std::vector<PromptEntry>& prompts) {
  internal::Sha256 sum;
  for (const PromptEntry& prompt : prompts) {
    // With their lengths, so that no text can pass for another's end.
    for (const std::string& text : {prompt.identifier, prompt.prompt}) sum.add(str_cat(text.size(), ":", text));
  }
  return sum.hex();
}

Journal::Journal(const std::string& answers_file, const Json& settings, bool resume)
    : file_(answers_file + kPartial, settings,
            resume ? jobs::JournalFile::Begin::kGoOn : jobs::JournalFile::Begin::kAnew,
            "repeat them, or name another file for the answers") {
  for (const Json& line : file_.earlier()) {
    try {
      Answer answer = answer_from_json(line);
      if (answer.error.empty()) earlier_.push_back(std::move(answer));
    } catch (const Json::exception& error) {
      throw InputError(file_.file(), str_cat("holds a line that is not an answer: ", error.what()),
                       "remove it, or name another file for the answers");
    }
  }
}

}  // namespace metactrl::benchmarks
