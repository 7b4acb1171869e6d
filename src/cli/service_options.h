// What the service is made of, whoever asks it: `metactrl serve` over HTTP, `metactrl mcp` over a pair of pipes.
#ifndef METACTRL_SRC_CLI_SERVICE_OPTIONS_H_
#define METACTRL_SRC_CLI_SERVICE_OPTIONS_H_

#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/decoding_options.h"
#include "serve/service.h"

namespace metactrl::cli {

struct ServiceArguments {
  std::vector<std::string> models = {kDefaultModel};
  std::string vocabulary;
  ModelOptions runtime;
  serve::ServiceOptions service;
  std::string max_body = "1M";
  std::string max_memory = "256M";
  std::string cache = "256M";
  unsigned parallel = 4;
  std::vector<std::string> hmms;
  Device lookahead_device = Device::kCpu;
};

// Models and what runs them, and what a request may cost.
void add_service_options(CLI::App& app, ServiceArguments& arguments);

// What the service is told, but for the key; loads the hidden Markov models.
serve::ServiceOptions service_options(const ServiceArguments& arguments);
std::vector<serve::ServedModel> load_service_models(const ServiceArguments& arguments);

}  // namespace metactrl::cli

#endif  // METACTRL_SRC_CLI_SERVICE_OPTIONS_H_
