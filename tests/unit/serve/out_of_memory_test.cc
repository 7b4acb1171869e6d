// When memory ends, one request ends: whichever allocation fails, std::bad_alloc comes out (from the service: status 503),
// and what comes next is as if nothing had been. A program of its own, because it decides about every allocation in it.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "metactrl/constraint.h"
#include "metactrl/domain.h"
#include "metactrl/planner.h"
#include "serve/service.h"
#include "support/counted_memory.h"
#include "support/service_fixture.h"

namespace metactrl::out_of_memory_test {
namespace {

using testing::g_allocation_failed;
using testing::g_allocations_left;
using testing::kDomain;
using testing::problem;

// Calls attempt() with the n-th allocation failing, for every n up to 2000 and then in growing steps, until none fails.
// attempt() says whether it noticed; afterwards recovered() is called.
template <typename Attempt, typename Recovered>
void fail_each(const Attempt& attempt, const Recovered& recovered) {
  std::size_t noticed = 0;
  for (std::size_t n = 1;; n += n < 2000 ? 1 : n / 100) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    g_allocation_failed = false;
    g_allocations_left = n;
    const bool out_of_memory = attempt();
    g_allocations_left = 0;
    if (!g_allocation_failed) {
      EXPECT_FALSE(out_of_memory);
      break;
    }
    noticed += out_of_memory ? 1 : 0;
    recovered();
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(noticed, 100U);
}

template <typename Work>
bool runs_out(const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    return true;
  }
  return false;
}

TEST(OutOfMemory, LoadingAndCompiling) {
  const std::string goal = problem("(and (lit a) (lit b))");
  const std::shared_ptr<const Vocabulary> vocabulary = testing::words();
  const auto work = [&] {
    const Task task = load_pddl_text(kDomain, goal);
    const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), vocabulary, {});
    return constraint->lookahead()->plan().size();
  };
  const std::size_t whole = work();
  std::size_t times = 0;
  fail_each([&] { return runs_out(work); },
            [&] {
              if (++times % 100 == 1) {
                EXPECT_EQ(work(), whole);
              }
            });
}

// Where the lookahead is exact, and where each action may need a search.
TEST(OutOfMemory, Planning) {
  const Task task = load_pddl_text(kDomain, problem("(and (lit a) (lit b))"));
  const std::shared_ptr<const Vocabulary> vocabulary = testing::words();
  const std::unique_ptr<LanguageModel> model = random_model(vocabulary, 1);
  for (const std::size_t states : {std::size_t{1000}, std::size_t{2}}) {
    PlanOptions options;
    options.lookahead.exact.states = states;
    options.lookahead.horizon = 6;
    options.generate.mode = DecodeMode::kSample;
    std::shared_ptr<const Constraint> constraint;
    options.constraints = [&](const Task& pursued, const PlanFormat& format,
                              const std::shared_ptr<const Vocabulary>& tokens, const ConstraintOptions& wanted) {
      if (constraint == nullptr) constraint = Constraint::compile(pursued, format, tokens, wanted);
      return constraint;
    };
    const auto work = [&] { return plan(task, PlanFormat::builtin("pddl"), model.get(), vocabulary, options).text; };
    const std::string whole = work();
    ASSERT_FALSE(whole.empty());
    fail_each([&] { return runs_out(work); }, [&] { EXPECT_EQ(work(), whole); });
  }
}

// One call at a time: the decoder is as it was.
TEST(OutOfMemory, ADecoderIsAsItWas) {
  const Task task = load_pddl_text(kDomain, problem("(and (lit a) (lit b))"));
  for (const Tokenization tokenization : {Tokenization::kCanonical, Tokenization::kAny}) {
    ConstraintOptions options;
    options.lookahead.exact.states = 2;
    options.lookahead.horizon = 6;
    options.tokenization = tokenization;
    const auto constraint = Constraint::compile(task, PlanFormat::builtin("pddl"), testing::words(), options);
    // Each step is tried until there is memory for it.
    const auto write = [&](std::size_t at) {
      Decoder decoder(constraint, {});
      g_allocations_left = at;
      while (!decoder.finished()) {
        const std::size_t tokens = decoder.num_tokens();
        const std::size_t actions = decoder.actions().size();
        try {
          const TokenId token = decoder.next().front().token;
          EXPECT_TRUE(decoder.accept(token));
        } catch (const std::bad_alloc&) {
          EXPECT_EQ(decoder.num_tokens(), tokens);
          EXPECT_EQ(decoder.actions().size(), actions);
        }
      }
      g_allocations_left = 0;
      return std::vector<TokenId>(decoder.tokens().begin(), decoder.tokens().end());
    };
    const std::vector<TokenId> whole = write(0);
    bool more = true;
    for (std::size_t n = 1; more && n < 5000; ++n) {
      g_allocation_failed = false;
      const std::vector<TokenId> tokens = write(n);
      g_allocations_left = 0;
      more = g_allocation_failed;
      ASSERT_EQ(tokens, whole) << n;
    }
    EXPECT_FALSE(more);
  }
}

class Answer : public serve::Exchange {
 public:
  Answer(const std::string& path, const nlohmann::json& body) {
    request_.method = "POST";
    request_.path = path;
    request_.headers = {{"host", "localhost"}, {"content-type", "application/json"}};
    request_.body = body.dump();
  }
  serve::HttpRequest& request() override { return request_; }
  bool respond(int status, const std::string& /*content_type*/, std::string_view body,
               const serve::HttpHeaders& /*headers*/) override {
    if (status_ != 0) return false;
    body_ = body;
    status_ = status;
    return true;
  }
  bool begin_stream(const std::string& /*content_type*/, const serve::HttpHeaders& /*headers*/) override {
    status_ = 200;
    return true;
  }
  bool write(std::string_view bytes) override {
    body_ += bytes;
    return true;
  }
  bool end_stream() override { return true; }
  bool responded() const override { return status_ != 0; }
  int status() const override { return status_; }
  bool gone() override { return false; }

  // Without what a clock, a cache or chance says.
  std::string essence() const {
    nlohmann::json json = nlohmann::json::parse(body_);
    for (const char* name : {"timings", "cached", "id", "created", "seconds"}) json.erase(name);
    if (json.contains("plan") && json["plan"].is_object()) {
      for (const char* name : {"timings", "cached"}) json["plan"].erase(name);
    }
    if (json.contains("result")) {
      json["result"].erase("content");  // the same as text
      for (const char* name : {"timings", "cached"}) json["result"]["structuredContent"].erase(name);
    }
    return json.dump();
  }
  const std::string& body() const { return body_; }

 private:
  serve::HttpRequest request_;
  std::string body_;
  int status_ = 0;
};

// `path` is asked for `body`, with every allocation failing in turn.
void fail_request(const std::string& path, const nlohmann::json& body) {
  const std::shared_ptr<const Vocabulary> vocabulary = testing::words();
  const std::shared_ptr<LanguageModel> model = random_model(vocabulary, 1);
  const auto make = [&] {
    std::vector<serve::ServedModel> models;
    models.push_back({"lamplighter", model, vocabulary, 0, 0});
    return std::make_unique<serve::Service>(std::move(models), serve::ServiceOptions{});
  };
  const auto ask = [&](serve::Service& service) {
    auto answer = std::make_unique<Answer>(path, body);
    service.handle(*answer);
    EXPECT_EQ(answer->status(), 200) << answer->body();
    return answer->essence();
  };
  const std::string whole = ask(*make());
  std::unique_ptr<serve::Service> service = make();
  fail_each(
      [&] {
        const std::size_t left = g_allocations_left.exchange(0);
        service = make();
        Answer answer(path, body);
        g_allocations_left = left;
        const bool thrown = runs_out([&] { service->handle(answer); });
        g_allocations_left = 0;
        EXPECT_TRUE(answer.responded());
        if (!thrown && answer.status() != 200) {
          EXPECT_EQ(answer.status(), 503) << answer.body();
          EXPECT_EQ(nlohmann::json::parse(answer.body())["error"]["code"], "out_of_memory");
        }
        return thrown || answer.status() == 503;
      },
      [&] {
        // Twice: made anew or from what was kept.
        EXPECT_EQ(ask(*service), whole);
        EXPECT_EQ(ask(*service), whole);
      });
}

TEST(OutOfMemory, APlanOfTheServiceSlow) {
  nlohmann::json body = testing::lamps();
  body["trace"] = true;
  fail_request("/v1/plans", body);
}

TEST(OutOfMemory, AChatWithTheService) {
  const nlohmann::json body = {
      {"messages", {{{"role", "user"}, {"content", "Light the lamps."}}}}, {"seed", 1}, {"plan", testing::lamps()}};
  fail_request("/v1/chat/completions", body);
}

TEST(OutOfMemory, AGoalFromWords) {
  const nlohmann::json body = {{"domain",
                                "(define (domain d) (:predicates (lit)) (:action press :parameters () :precondition "
                                "(not (lit)) :effect (lit)))"},
                               {"problem", "(define (problem p) (:domain d) (:init))"},
                               {"instruction", "make it lit"},
                               {"hypotheses", 1}};
  fail_request("/v1/goals", body);
}

TEST(OutOfMemory, ACallOfAToolSlow) {
  nlohmann::json arguments = testing::lamps();
  fail_request("/mcp", {{"jsonrpc", "2.0"},
                        {"id", 1},
                        {"method", "tools/call"},
                        {"params", {{"name", "plan"}, {"arguments", arguments}}}});
  arguments["plan"] = "(press a)";
  arguments["action"] = "(blow-fuse)";
  fail_request("/mcp", {{"jsonrpc", "2.0"},
                        {"id", 1},
                        {"method", "tools/call"},
                        {"params", {{"name", "explain"}, {"arguments", arguments}}}});
}

}  // namespace
}  // namespace metactrl::out_of_memory_test
