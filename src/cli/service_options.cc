#include "cli/service_options.h"

#include <algorithm>
#include <filesystem>

#include "cli/load_decoding.h"
#include "cli/model_store.h"
#include "cli/options.h"
#include "support/str_cat.h"

namespace metactrl::cli {

using internal::str_cat;

namespace {

// Sessions of a model at a time. A request has one, or a few with a trace or several plans at once; and so has each prompt that
// is kept, of which there may be 32 beside the 64 requests that are worked on unless more are asked for.
constexpr unsigned kSequences = 96;
// Besides, recurrent models keep the states that sessions go back to, as long as half of all are free.
constexpr unsigned kCheckpoints = 32;

}  // namespace

void add_service_options(CLI::App& app, ServiceArguments& arguments) {
  app.add_option("--model,-m", arguments.models,
                 "as for 'metactrl plan'; may be given more than once, the first one is the default")
      ->type_name("MODEL")
      ->capture_default_str();
  add_vocabulary_option(app, arguments.vocabulary);
  app.add_option("--hmm", arguments.hmms,
                 "hidden Markov model of plans, for requests with guidance trained; may be given more than once, and "
                 "a request gets the one that knows most of its actions")
      ->type_name("FILE");
  add_lookahead_device_option(app, arguments.lookahead_device);
  add_number(app, "--threads", "N", arguments.runtime.threads, 0, 4096, "threads that run a model; 0: one per core");
  add_gpu_layers_option(app, arguments.runtime, "layers of a model to keep on the GPU; auto: all that fit");
  add_number(app, "--context", "N", arguments.runtime.context, 0, 1e8,
             "tokens one request can hold; 0: what the model was trained for, at most 8192");
  add_number(app, "--parallel", "N", arguments.parallel, 1, 1024,
             "how many requests of that size a model's memory holds at a time; shorter ones count for less");
  add_size(app, "--max-body", arguments.max_body, "longest request");
  add_number(app, "--max-horizon", "N", arguments.service.limits.horizon, 1, 1e6, "most actions a request may ask for");
  add_number(app, "--max-seconds", "SECONDS", arguments.service.limits.seconds, 0.01, 1e6,
             "longest time for a request");
  add_number(app, "--max-states", "N", arguments.service.limits.states, 1, 1e9, "states to look at for a request");
  add_size(app, "--max-memory", arguments.max_memory, "memory for a request's task and its states");
  add_number(app, "--max-requests", "N", arguments.service.max_requests, 1, 4096,
             "requests that are worked on at a time");
  add_size(app, "--cache", arguments.cache, "memory for tasks and constraints that were compiled before");
}

serve::ServiceOptions service_options(const ServiceArguments& arguments) {
  serve::ServiceOptions options = arguments.service;
  options.body_bytes = parse_size(arguments.max_body).value_or(0);
  options.limits.memory_bytes = parse_size(arguments.max_memory).value_or(0);
  options.cache_bytes = parse_size(arguments.cache).value_or(0);
  options.version = METACTRL_VERSION;
  for (const std::string& file : arguments.hmms) {
    options.hmms.push_back(Hmm::load(file));
    if (!options.hmms.back().alphabet().is_meta()) {
      throw InputError(file, "is a model of tokens, and plans need one of actions", "train it with --level meta");
    }
  }
  options.lookahead_device = open_lookahead_device(arguments.lookahead_device);
  return options;
}

std::vector<serve::ServedModel> load_service_models(const ServiceArguments& arguments) {
  std::vector<serve::ServedModel> models;
  for (const std::string& name : arguments.models) {
    ModelOptions options = arguments.runtime;
    options.shared_contexts = arguments.parallel;
    options.max_sequences = kSequences + kCheckpoints;
    options.batched = true;
    try {
      LoadedModel loaded = open_model(name, arguments.vocabulary, options);
      serve::ServedModel served;
      served.name = std::filesystem::path(name).stem().string();
      const bool known = std::any_of(models.begin(), models.end(),
                                     [&served](const serve::ServedModel& other) { return other.name == served.name; });
      if (known) throw UsageError(str_cat("two models are called ", served.name, "; requests could not choose"));
      served.model = std::move(loaded.model);
      served.vocabulary = std::move(loaded.vocabulary);
      served.memory_tokens = arguments.parallel * served.model->context_length();
      served.sequences = kSequences;
      models.push_back(std::move(served));
    } catch (const ModelError& error) {
      throw ResourceError(kOutOfMemory, error.what());
    }
  }
  return models;
}

}  // namespace metactrl::cli
