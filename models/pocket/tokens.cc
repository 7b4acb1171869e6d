// How llama.cpp encodes prompts and plans with a model's vocabulary: one JSON object per line, in and out.
//
//     pocket_tokens MODEL.gguf
//     in   {"system": "...", "user": "...", "plan": "..."}
//     out  {"prompt": [3, 17, ...], "plan": [5, ...]}
//
// compare_tokens.py holds these against what the model was trained on.
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "metactrl/language_model.h"
#include "metactrl/vocabulary.h"

namespace {

std::vector<int> numbers(const std::vector<metactrl::TokenId>& tokens) {
  std::vector<int> out;
  out.reserve(tokens.size());
  for (const metactrl::TokenId token : tokens) out.push_back(static_cast<int>(token));
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: pocket_tokens MODEL.gguf\n";
    return 30;
  }
  try {
    const std::unique_ptr<metactrl::LanguageModel> model = metactrl::load_model(argv[1]);
    std::string line;
    while (std::getline(std::cin, line)) {
      const nlohmann::json request = nlohmann::json::parse(line);
      metactrl::Prompt prompt;
      prompt.system = request.value("system", "");
      prompt.user = request.value("user", "");
      const std::string text = model->render_prompt(prompt);
      nlohmann::ordered_json out;
      out["prompt"] = numbers(model->encode_prompt(prompt));
      out["plan"] = numbers(model->vocabulary().encode(request.value("plan", ""), text));
      std::cout << out.dump() << '\n';
    }
  } catch (const std::exception& error) {
    std::cerr << "pocket_tokens: " << error.what() << '\n';
    return 31;
  }
  return 0;
}
