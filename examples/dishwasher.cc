// The dishwasher task from PDDL files to a guaranteed plan, written by a language model.
//
//     dishwasher MODEL.gguf [DOMAIN.pddl PROBLEM.pddl]
#include <metactrl/metactrl.h>

#include <exception>
#include <iostream>
#include <memory>

using namespace metactrl;

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 4) {
    std::cerr << "usage: dishwasher MODEL.gguf [DOMAIN.pddl PROBLEM.pddl]\n";
    return 30;
  }
  // What the robot knows: which actions there are, what is where, what is wanted.
  const Task task = load_pddl(argc == 4 ? argv[2] : "domains/tabletop/domain.pddl",
                              argc == 4 ? argv[3] : "domains/tabletop/dishwasher.pddl");
  const std::shared_ptr<LanguageModel> model = load_model(argv[1], {});
  const std::shared_ptr<const Vocabulary> vocabulary(model, &model->vocabulary());

  // Both levels: how plans are spelled in this model's tokens, and which actions can still reach the goal.
  const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), vocabulary, {});
  if (constraint->lookahead()->verdict() != Verdict::kSolvable) {
    std::cerr << constraint->lookahead()->reason() << '\n';
    return 10;
  }

  const Prompt prompt = make_prompt(task, constraint->spelling(), "Put the dishes into the dishwasher.");
  const std::unique_ptr<Session> session = model->start(model->encode_prompt(prompt), 512);
  Decoder decoder(constraint, {});
  const Generation generation = generate(decoder, *session, {});
  std::cout << generation.text << '\n';
  std::cout << generation.plan.size() << " actions, " << generation.model_calls << " model calls for "
            << generation.tokens.size() << " tokens, " << (task.validate(generation.plan).valid ? "valid" : "NOT VALID")
            << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 31;
}
