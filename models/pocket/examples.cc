// Turns requests into training examples: one JSON object per line, in and out. Run in the root of the source tree.
//
//     in   {"id": 7, "module": "vh-as", "prompt": "...", "mistake": "skip", "seed": 17}
//          {"id": 8, "domain": "domains/tabletop/domain.pddl", "problem": "(define ...)", "format": "pddl"}
//          {"id": 9, "domain_text": "(define ...)", "problem": "(define ...)", "instruction": "...", "goal": "(and (p a))"}
//     out  {"id": 7, "prompt": "...", "plan": "{\"WALK\": ...}", "steps": 3, "valid": false, "spoiled": true}
//          {"id": 8, "error": "no plan"}
//
// The fields are those of reference_plan.h; `domain` names a file, `domain_text` is one. Every request has its line of output, in order. What
// is wrong with a request is its "error"; the others go on.
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "reference_plan.h"

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// Each file is read once.
class Files {
 public:
  const std::string& text(const std::string& file) {
    auto [entry, is_new] = texts_.try_emplace(file);
    if (is_new) {
      std::ifstream in(file);
      if (!in) throw std::runtime_error("cannot open " + file + "; run this in the root of the source tree");
      entry->second.assign(std::istreambuf_iterator<char>(in), {});
    }
    return entry->second;
  }

 private:
  std::map<std::string, std::string> texts_;
};

ordered_json answer(const json& line, Files& files) {
  ordered_json out;
  out["id"] = line.value("id", json());
  try {
    metactrl::pocket::Request request;
    request.module = line.value("module", "");
    request.prompt = line.value("prompt", "");
    if (const std::string file = line.value("domain", ""); !file.empty()) request.domain = files.text(file);
    if (const std::string text = line.value("domain_text", ""); !text.empty()) request.domain = text;
    request.problem = line.value("problem", "");
    request.format = line.value("format", "");
    request.instruction = line.value("instruction", "");
    request.goal = line.value("goal", "");
    request.mistake = line.value("mistake", "");
    request.seed = line.value("seed", std::uint64_t{0});
    request.in_order = line.value("in_order", false);
    const auto example = metactrl::pocket::make_example(request);
    if (!example) {
      out["error"] = "no plan";
      return out;
    }
    out["prompt"] = example->prompt;
    out["plan"] = example->plan;
    out["steps"] = example->steps;
    out["valid"] = example->valid;
    out["spoiled"] = example->spoiled;
  } catch (const std::exception& error) {
    out["error"] = error.what();
  }
  return out;
}

}  // namespace

int main() {
  Files files;
  std::string line;
  std::size_t number = 0;
  while (std::getline(std::cin, line)) {
    ++number;
    const json request = json::parse(line, nullptr, false);
    if (!request.is_object()) {
      std::cerr << "pocket_examples: line " << number << " is not a JSON object\n";
      return 31;
    }
    std::cout << answer(request, files).dump() << '\n';
  }
  return 0;
}
