// Plans with the model in the box, through the installed library: consumer PREFIX/share/metactrl [search]
//
// With `search` no model is needed, for a library that was built without llama.cpp.
#include <metactrl/metactrl.h>

#include <exception>
#include <iostream>
#include <memory>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: consumer PREFIX/share/metactrl [search]\n";
    return 30;
  }
  const std::string share = argv[1];
  const std::string domains = share + "/domains/tabletop/";
  const metactrl::Task task = metactrl::load_pddl(domains + "domain.pddl", domains + "dishwasher.pddl");

  std::shared_ptr<metactrl::LanguageModel> model;
  std::shared_ptr<const metactrl::Vocabulary> vocabulary;
  metactrl::PlanOptions options;
  options.instruction = "Put the dishes into the dishwasher.";
  if (argc == 3) {
    options.guidance = metactrl::Guidance::kSearch;
  } else {
    model = metactrl::load_model(share + "/models/pocket.gguf", {});
    vocabulary = std::shared_ptr<const metactrl::Vocabulary>(model, &model->vocabulary());
  }
  const metactrl::PlanResult result =
      metactrl::plan(task, metactrl::PlanFormat::builtin("pddl"), model.get(), vocabulary, options);
  std::cout << result.text << "\nguarantee: " << metactrl::to_string(result.guarantee) << '\n';
  return result.valid() ? 0 : 12;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 31;
}
