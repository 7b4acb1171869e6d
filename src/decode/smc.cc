// Sampling from p_LM(plan | constraint) with particles.
//
// Each particle samples its next token from q(v) proportional to p_LM(v | x) psi(x v), where psi is the lookahead's
// value (the exponential of NextToken::log_weight), and multiplies its importance weight by sum_v p_LM(v | x) psi(x v)
// / psi(x). The product telescopes: at the end of a plan psi is 1 and the weight is the ratio of target and proposal,
// whatever psi was in between. So the surrogate decides how well the particles do, not where they go in the limit.
// Forced tokens are part of the target: their probability under the model counts.
//
// A round takes every open particle to the end of its current action; then, if the effective number of open particles
// has fallen below half of them, they are resampled (systematic resampling).
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "decode/choose.h"
#include "decode/strategies.h"
#include "support/log_math.h"

namespace metactrl::decode {

namespace {

using internal::kMinusInfinity;

struct Particle {
  Decoder decoder;
  std::unique_ptr<Session> session;  // has read all of the decoder's tokens
  double log_weight = 0;             // importance weight
  double log_psi = 0;                // value of the text so far
  double log_probability = 0;        // p_LM of the text so far
  bool open() const { return !decoder.finished() && log_weight != kMinusInfinity; }
};

double log_sum(std::span<const double> values) {
  return internal::log_sum(0, values.size(), [&](std::size_t i) { return values[i]; });
}

class Filter {
 public:
  Filter(const Decoder& decoder, Session& session, const GenerateOptions& options, const Observer& observer)
      : observer_(observer), random_(options.seed) {
    for (unsigned i = 0; i < std::max(1U, options.samples); ++i) particles_.push_back({decoder, session.fork()});
  }

  Generation run() {
    bool cancelled = false;
    while (!cancelled &&
           std::any_of(particles_.begin(), particles_.end(), [](const Particle& p) { return p.open(); })) {
      for (Particle& particle : particles_) {
        cancelled = cancelled || (observer_.cancelled && observer_.cancelled());
        if (!cancelled && particle.open()) advance(particle);
      }
      if (!cancelled) resample_if_needed();
    }
    return result();
  }

 private:
  // One action, or whatever is left of the plan.
  void advance(Particle& particle) {
    const std::size_t actions = particle.decoder.actions().size();
    while (particle.open() && particle.decoder.actions().size() == actions) step(particle);
    // The end-of-turn token belongs to the last action.
    const auto closed = [&] { return particle.decoder.separators().size() < particle.decoder.actions().size(); };
    while (particle.open() && closed()) step(particle);
  }

  void step(Particle& particle) {
    const std::span<const NextToken> choices = particle.decoder.next();
    if (choices.empty()) {
      particle.log_weight = kMinusInfinity;
      return;
    }
    const std::span<const float> logits = particle.session->logits();
    const double normaliser = log_normaliser(logits);
    score_choices(choices, logits, scores_);
    for (double& score : scores_) score -= normaliser;  // log p_LM(v) + log psi
    particle.log_weight += log_sum(scores_) - particle.log_psi;
    const std::size_t chosen = choose_sample(scores_, {}, random_, buffers_);
    const NextToken choice = choices[chosen];
    particle.log_psi = choice.log_weight;
    particle.log_probability += scores_[chosen] - choice.log_weight;
    particle.decoder.accept(choice.token);
    if (particle.decoder.finished()) {
      // The target has psi = 1 at the end.
      particle.log_weight -= particle.log_psi;
      return;
    }
    const TokenId appended[] = {choice.token};
    particle.session->append(appended);
    ++calls_;
  }

  // Among the open particles only: psi is the surrogate's idea of the future, which a finished particle no longer
  // needs, and weights with and without it would not compare well. The open ones' total weight stays what it is.
  void resample_if_needed() {
    std::vector<std::size_t> open;
    std::vector<double> log_weights;
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      if (!particles_[i].open()) continue;
      open.push_back(i);
      log_weights.push_back(particles_[i].log_weight);
    }
    if (open.size() < 2) return;
    const double total = log_sum(log_weights);
    double squares = 0;
    for (double w : log_weights) squares += std::exp(2 * (w - total));
    const auto n = static_cast<double>(open.size());
    if (1 / squares >= n / 2) return;
    // Systematic: one random offset, evenly spaced points.
    std::vector<std::size_t> chosen;
    double cumulative = 0;
    double next_point = random_.uniform();
    for (std::size_t i = 0; i < open.size(); ++i) {
      cumulative += n * std::exp(log_weights[i] - total);
      const bool last = i + 1 == open.size();
      while (chosen.size() < open.size() && (last || next_point < cumulative)) {
        chosen.push_back(open[i]);
        next_point += 1;
      }
    }
    replace(open, chosen, total - std::log(n));
  }

  // Puts copies of the particles `chosen` (ascending, with repetitions) into the places `open`, with equal weights.
  void replace(const std::vector<std::size_t>& open, const std::vector<std::size_t>& chosen, double log_weight) {
    std::vector<Particle> kept;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      Particle& source = particles_[chosen[i]];
      const bool last_copy = i + 1 == chosen.size() || chosen[i + 1] != chosen[i];
      Particle copy = last_copy
                          ? std::move(source)
                          : Particle{source.decoder, source.session->fork(), 0, source.log_psi, source.log_probability};
      copy.log_weight = log_weight;
      kept.push_back(std::move(copy));
    }
    for (std::size_t i = 0; i < open.size(); ++i) particles_[open[i]] = std::move(kept[i]);
  }

  Generation result() {
    Generation result;
    std::vector<double> log_weights;
    for (const Particle& particle : particles_) {
      log_weights.push_back(particle.decoder.finished() ? particle.log_weight : kMinusInfinity);
    }
    const double total = log_sum(log_weights);
    result.model_calls = calls_;
    if (total == kMinusInfinity) return result;
    result.log_evidence = total - std::log(static_cast<double>(particles_.size()));
    double point = random_.uniform();
    std::size_t drawn = 0;
    for (std::size_t i = 0; i < particles_.size(); ++i) {
      const double weight = std::exp(log_weights[i] - total);
      const Decoder& decoder = particles_[i].decoder;
      const bool done = decoder.finished();
      result.particles.push_back(
          {text_of(decoder.constraint().vocabulary(), decoder.tokens().first(decoder.num_tokens() - (done ? 1 : 0))),
           weight});
      if (weight > 0 && point >= 0) drawn = i;
      point -= weight;
    }
    take_result(particles_[drawn].decoder, result);
    result.log_probability = particles_[drawn].log_probability;
    return result;
  }

  const Observer& observer_;
  Random random_;
  std::vector<Particle> particles_;
  std::vector<double> scores_;
  SampleBuffers buffers_;
  std::size_t calls_ = 0;
};

}  // namespace

Generation particle_filter(const Decoder& decoder, Session& session, const GenerateOptions& options,
                           const Observer& observer) {
  return Filter(decoder, session, options, observer).run();
}

}  // namespace metactrl::decode
