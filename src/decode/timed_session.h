// A session that measures how long the model takes. Forks measure into the same place.
#ifndef METACTRL_SRC_DECODE_TIMED_SESSION_H_
#define METACTRL_SRC_DECODE_TIMED_SESSION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "metactrl/language_model.h"
#include "support/stopwatch.h"

namespace metactrl::decode {

// Seconds spent in a model. `first` is the first call that ran it: the one that reads the prompt.
struct ModelTimes {
  double first = 0;
  double total = 0;
  bool started = false;
  std::function<void()> after_first;  // called once, when the prompt has been read
};

class TimedSession : public Session {
 public:
  // `times` must outlive the session and its forks.
  TimedSession(std::unique_ptr<Session> session, ModelTimes& times) : session_(std::move(session)), times_(times) {}

  // The prompt was read when the session was made, which took so long.
  void started_after(double seconds) { start(seconds); }

  void append(std::span<const TokenId> tokens) override {
    const Lap lap(*this);
    session_->append(tokens);
  }
  std::span<const float> logits() override {
    const Lap lap(*this);
    return session_->logits();
  }
  std::size_t size() const override { return session_->size(); }
  void rollback(std::size_t size) override {
    const Lap lap(*this);
    session_->rollback(size);
  }
  std::unique_ptr<Session> fork() override {
    const Lap lap(*this);
    return std::make_unique<TimedSession>(session_->fork(), times_);
  }
  std::vector<std::vector<float>> score(std::span<const std::vector<TokenId>> paths) override {
    const Lap lap(*this);
    return session_->score(paths);
  }
  std::size_t num_calls() const override { return session_->num_calls(); }
  std::size_t spare_tokens() const override { return session_->spare_tokens(); }
  void expect(std::span<const std::vector<TokenId>> continuations) override { session_->expect(continuations); }

 private:
  // Adds the time that passes until it is destroyed.
  class Lap {
   public:
    explicit Lap(TimedSession& session) : session_(session), calls_(session.num_calls()) {}
    Lap(const Lap&) = delete;
    Lap& operator=(const Lap&) = delete;
    ~Lap() { session_.add(watch_.seconds(), calls_); }

   private:
    TimedSession& session_;
    std::size_t calls_;
    internal::Stopwatch watch_;
  };

  void add(double seconds, std::size_t calls_before) {
    if (!times_.started && num_calls() > calls_before) {
      start(seconds);
    } else {
      times_.total += seconds;
    }
  }

  void start(double seconds) {
    times_.started = true;
    times_.first = seconds;
    times_.total += seconds;
    if (times_.after_first) times_.after_first();
  }

  std::unique_ptr<Session> session_;
  ModelTimes& times_;
};

}  // namespace metactrl::decode

#endif  // METACTRL_SRC_DECODE_TIMED_SESSION_H_
