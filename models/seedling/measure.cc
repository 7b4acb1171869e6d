// What seedling is worth on its own: reads scenes (scenes.h) on standard input, has the model write a plan for each,
// greedily and without any constraint, and counts what can be read, what can be carried out and what reaches the goal.
//
//     measure models/seedling.gguf 2 < heldout.scenes          # 2 threads; --show prints the plans, --raw leaves out
//     the chat template
#include <chrono>
#include <iostream>
#include <string>
#include <string_view>

#include "metactrl/domain.h"
#include "metactrl/format.h"
#include "metactrl/generate.h"
#include "metactrl/language_model.h"
#include "metactrl/prompt.h"
#include "scenes.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Totals {
  std::size_t scenes = 0, parsed = 0, executable = 0, valid = 0;
  std::size_t prompt_tokens = 0, plan_tokens = 0;
  double prompt_seconds = 0, plan_seconds = 0;
};

void run_scene(metactrl::LanguageModel& model, const seedling::Scene& scene, const std::string& domain, bool raw,
               bool show, Totals& totals) {
  const metactrl::Task task = metactrl::load_pddl_text(domain, scene.problem);
  const metactrl::PlanSpelling spelling(metactrl::PlanFormat::builtin(scene.format), task);
  metactrl::Prompt prompt = metactrl::make_prompt(task, spelling, scene.instruction);
  if (raw) prompt.raw = prompt.user;
  const auto tokens = model.encode_prompt(prompt);
  const auto start = Clock::now();
  const auto session = model.start(tokens, 512);
  session->logits();
  totals.prompt_seconds += seconds_since(start);
  const auto middle = Clock::now();
  metactrl::GenerateOptions options;
  options.max_tokens = 500;
  const metactrl::Generation answer = metactrl::generate_unconstrained(*session, model.vocabulary(), options);
  totals.plan_seconds += seconds_since(middle);
  totals.prompt_tokens += tokens.size();
  totals.plan_tokens += answer.tokens.size();
  const auto parsed = spelling.parse(answer.text);
  const metactrl::Validation validation = task.validate(parsed.actions);
  const bool complete = answer.finished && parsed.complete;
  ++totals.scenes;
  totals.parsed += complete ? 1 : 0;
  totals.executable += complete && validation.steps_executed == parsed.actions.size() ? 1 : 0;
  totals.valid += complete && validation.valid ? 1 : 0;
  if (show) {
    std::cout << (raw ? prompt.raw : prompt.user) << answer.text << (answer.finished ? "" : " ... (cut off)") << "\n=> "
              << (!complete          ? parsed.error
                  : validation.valid ? "valid"
                                     : validation.reason)
              << "\n\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: measure MODEL THREADS [--raw] [--show] < SCENES\n";
    return 30;
  }
  try {
    bool raw = false;
    bool show = false;
    for (int i = 3; i < argc; ++i) {
      raw = raw || std::string_view(argv[i]) == "--raw";
      show = show || std::string_view(argv[i]) == "--show";
    }
    metactrl::ModelOptions options;
    options.threads = static_cast<unsigned>(std::stoul(argv[2]));
    const auto model = metactrl::load_model(argv[1], options);
    seedling::Files files;
    seedling::Scene scene;
    Totals totals;
    while (seedling::read_scene(std::cin, scene))
      run_scene(*model, scene, files.text(scene.domain_file), raw, show, totals);
    std::cout << totals.scenes << " scenes: " << totals.parsed << " plans can be read, " << totals.executable
              << " can be carried out, " << totals.valid << " reach the goal\n"
              << totals.prompt_tokens << " prompt tokens in " << totals.prompt_seconds << " s ("
              << static_cast<double>(totals.prompt_tokens) / totals.prompt_seconds << " per second), "
              << totals.plan_tokens << " plan tokens in " << totals.plan_seconds << " s ("
              << static_cast<double>(totals.plan_tokens) / totals.plan_seconds << " per second)\n";
  } catch (const std::exception& error) {
    std::cerr << "measure: " << error.what() << '\n';
    return 31;
  }
  return 0;
}
