// Beam search over actions.
//
// A hypothesis is a decoder at a boundary with a session that has read its tokens. One round gives every hypothesis all
// of its next entries: the model scores their token paths as one batched tree, so an entry's probability is the model's
// own, not the greedy path's. A hypothesis is ranked by log p_LM(tokens so far) plus the lookahead's log-value of what
// is to come; the best `beam` survive. A plan is complete with its end-of-turn token and is then ranked by log p_LM
// alone. The search ends when the best complete plan is at least as likely as every open hypothesis, whose probability
// can only fall.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "decode/choose.h"
#include "decode/strategies.h"

namespace metactrl::decode {

namespace {

struct Hypothesis {
  Decoder decoder;
  std::unique_ptr<Session> session;  // has read all of the decoder's tokens
  double log_probability = 0;        // of those tokens
};

// One entry of one hypothesis; or, where the text allows only one token (a number in front of an action), that token.
struct Extension {
  std::size_t hypothesis = 0;
  std::vector<TokenId> tokens;
  double log_probability = 0;  // of the whole hypothesis behind it
  double rank = 0;             // what it is sorted by
};

double sum(const std::vector<float>& scores) {
  double total = 0;
  for (float score : scores) total += std::isnan(score) ? -1e9 : std::max<double>(score, -1e9);
  return total;
}

class Beam {
 public:
  Beam(const Decoder& decoder, Session& session, const GenerateOptions& options, const Observer& observer)
      : options_(options), observer_(observer), initial_calls_(session.num_calls()), session_(session) {
    hypotheses_.push_back({decoder, session.fork(), 0});
  }

  Generation run() {
    Generation result;
    while (!hypotheses_.empty()) {
      if (observer_.cancelled && observer_.cancelled()) break;
      std::vector<Extension> extensions = extend_all();
      keep_best(std::move(extensions));
      if (best_ && std::none_of(hypotheses_.begin(), hypotheses_.end(), [this](const Hypothesis& open) {
            return open.log_probability > best_log_probability_;
          })) {
        break;
      }
    }
    if (best_) take_result(*best_, result);
    result.log_probability = best_ ? best_log_probability_ : 0;
    result.model_calls = calls_ + session_.num_calls() - initial_calls_;
    return result;
  }

 private:
  // The next entries of all hypotheses; complete plans are taken out.
  std::vector<Extension> extend_all() {
    std::vector<Extension> extensions;
    for (std::size_t h = 0; h < hypotheses_.size(); ++h) {
      Hypothesis& hypothesis = hypotheses_[h];
      std::vector<std::vector<TokenId>> paths = all_paths(hypothesis.decoder);
      const std::size_t before = hypothesis.session->num_calls();
      const std::vector<std::vector<float>> scores = hypothesis.session->score(paths);
      calls_ += hypothesis.session->num_calls() - before;
      Decoder walk = hypothesis.decoder;
      for (std::size_t i = 0; i < paths.size(); ++i) {
        Extension extension;
        extension.hypothesis = h;
        extension.log_probability = hypothesis.log_probability + sum(scores[i]);
        extension.rank = extension.log_probability + log_value(walk, paths[i]);
        extension.tokens = std::move(paths[i]);
        extensions.push_back(std::move(extension));
      }
    }
    return extensions;
  }

  // Entries, and the empty plan where it is allowed; after the closing, the end-of-turn tokens. Where the bytes of an
  // entry can be written in several ways, the tokenizer's own is taken.
  static std::vector<std::vector<TokenId>> all_paths(Decoder& decoder) {
    std::vector<std::vector<TokenId>> paths = decoder.paths();
    if (paths.empty()) {
      for (const NextToken& choice : decoder.next()) paths.push_back({choice.token});
    }
    return paths;
  }

  // What the lookahead says about the path: the weight of its last decision. `walk` ends where it began. The last token
  // is not taken: behind it the lookahead would have to say what can follow, of every path, and few of them are kept.
  static double log_value(Decoder& walk, const std::vector<TokenId>& path) {
    double value = -std::numeric_limits<double>::infinity();
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < path.size(); ++i) {
      value = -std::numeric_limits<double>::infinity();
      for (const NextToken& choice : walk.next()) {
        if (choice.token == path[i]) value = choice.log_weight;
      }
      if (i + 1 == path.size() || !walk.accept(path[i])) break;
      ++accepted;
    }
    walk.rollback(accepted);
    return accepted + 1 == path.size() ? value : -std::numeric_limits<double>::infinity();
  }

  void keep_best(std::vector<Extension> extensions) {
    std::stable_sort(extensions.begin(), extensions.end(),
                     [](const Extension& a, const Extension& b) { return a.rank > b.rank; });
    std::vector<Hypothesis> kept;
    for (const Extension& extension : extensions) {
      if (kept.size() >= options_.beam) break;
      const Hypothesis& parent = hypotheses_[extension.hypothesis];
      Decoder decoder = parent.decoder;
      bool accepted = true;
      for (TokenId token : extension.tokens) accepted = accepted && decoder.accept(token);
      if (!accepted) continue;
      if (decoder.finished()) {
        finish(std::move(decoder), extension.log_probability);
        continue;
      }
      std::unique_ptr<Session> session = parent.session->fork();
      session->append(extension.tokens);
      ++calls_;
      kept.push_back({std::move(decoder), std::move(session), extension.log_probability});
    }
    hypotheses_ = std::move(kept);
  }

  void finish(Decoder decoder, double log_probability) {
    if (best_ && log_probability <= best_log_probability_) return;
    best_ = std::make_unique<Decoder>(std::move(decoder));
    best_log_probability_ = log_probability;
  }

  const GenerateOptions& options_;
  const Observer& observer_;
  std::size_t initial_calls_;
  Session& session_;
  std::size_t calls_ = 0;
  std::vector<Hypothesis> hypotheses_;
  std::unique_ptr<Decoder> best_;
  double best_log_probability_ = 0;
};

}  // namespace

Generation beam_search(const Decoder& decoder, Session& session, const GenerateOptions& options,
                       const Observer& observer) {
  return Beam(decoder, session, options, observer).run();
}

}  // namespace metactrl::decode
