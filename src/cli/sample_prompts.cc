#include "cli/sample_prompts.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "cli/plan_input.h"
#include "metactrl/domain.h"
#include "metactrl/error.h"
#include "pddl/resample.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/str_cat.h"

namespace metactrl::cli {

namespace {

class PddlPrompts : public SamplePrompts {
 public:
  PddlPrompts(const std::string& domain_file, const std::vector<std::string>& problem_files, const std::string& format,
              std::uint64_t seed)
      : domain_(internal::read_file(domain_file)), format_(load_format(format)), seed_(seed) {
    for (const std::string& file : problem_files) {
      load_pddl(domain_file, file);  // which says what is wrong with it
      const std::string text = internal::read_file(file);
      sources_.emplace_back(text);
      own_.insert(pddl::ProblemResampler::canonical(text));
    }
  }

  SamplePrompt make(std::uint64_t number) const override {
    for (std::uint64_t attempt = 0; attempt < kSampleAttempts; ++attempt) {
      const std::size_t source = (number + attempt / 8) % sources_.size();
      const std::optional<std::string> problem = sources_[source].sample(sample_seed(seed_, number, attempt));
      if (!problem || own_.contains(pddl::ProblemResampler::canonical(*problem))) continue;
      return {load_pddl_text(domain_, *problem), static_cast<std::uint32_t>(source), std::nullopt};
    }
    throw InputError("problems", "have no others like them: no two objects of a kind, and a single goal each",
                     "give problems with more objects or more goals");
  }

  PlanFormat format() const override { return format_; }

 private:
  std::string domain_;
  PlanFormat format_;
  std::uint64_t seed_;
  std::vector<pddl::ProblemResampler> sources_;
  std::set<std::string> own_;
};

class PddlSource : public SampleSource {
 public:
  void add_options(CLI::App& app) override {
    app.add_option("--domain,-d", domain_, "PDDL domain file")->type_name("FILE");
    app.add_option("--problem,-p", problems_, "PDDL problem files of the domain")->type_name("FILE");
    add_format_option(app, format_);
  }

  bool named() const override { return !domain_.empty() || !problems_.empty(); }

  void check() const override {
    if (domain_.empty() || problems_.empty()) {
      throw UsageError("--domain FILE and at least one --problem FILE are needed");
    }
  }

  std::unique_ptr<SamplePrompts> open(std::uint64_t seed) override {
    return std::make_unique<PddlPrompts>(domain_, problems_, format_, seed);
  }

  void add_settings(Json& settings) const override {
    settings["domain"] = sample_file_digest(domain_);
    for (const std::string& problem : problems_) settings["problems"].push_back(sample_file_digest(problem));
    const std::vector<std::string> builtins = PlanFormat::builtin_names();
    const bool builtin = std::find(builtins.begin(), builtins.end(), format_) != builtins.end();
    settings["format"] = builtin ? format_ : sample_file_digest(format_);
  }

 private:
  std::string domain_;
  std::vector<std::string> problems_;
  std::string format_ = "pddl";
};

}  // namespace

std::unique_ptr<SampleSource> pddl_source() { return std::make_unique<PddlSource>(); }

std::uint64_t sample_seed(std::uint64_t seed, std::uint64_t number, std::uint64_t attempt) {
  return internal::mix(internal::mix(seed + 1, number + 1), attempt + 1);
}

std::string sample_file_digest(const std::string& file) {
  return internal::str_cat(std::filesystem::path(file).filename().string(), " ",
                           internal::hash_bytes(internal::read_file(file)));
}

}  // namespace metactrl::cli
