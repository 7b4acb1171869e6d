// A session is a list of tokens and how many of them the engine's memory holds for its sequence. Appending and dropping
// tokens changes the list (and cuts the memory); the model runs when logits are asked for, on all tokens that the
// memory lacks.
//
// What may come (expect) is read in the same call as what did come: each continuation in a scratch sequence that begins
// as a copy of the session's. The one that comes true is moved into the session's sequence, and its row of logits is
// still in llama.cpp's memory, unless somebody has run the model since; the next run forgets them all.
//
// In batches others always run the model, and a token more delays all of them. There only the first continuation is read,
// in the session's own sequence, and its row is taken like any other. If something else comes, the next run cuts it off
// first: the session need not wait for the lock.
//
// Forks copy the sequence, which in llama.cpp marks the cells as belonging to both.
//
// score() evaluates a TokenTree in one batch: each branch is a scratch sequence that starts as a copy of the session's,
// and a node belongs to the sequences of all branches through it, so that it is evaluated once. Tokens of the session
// that are not evaluated yet go into the same batch. Only nodes with children are evaluated, since a log-probability
// needs the logits before a token and not behind it.
//
// A prompt that begins with what the engine was told to expect starts as a copy of that prefix's sequence, so only the
// rest of it is read. The prefix is always evaluated by itself, in the same batches: so what a session says does not
// depend on the sessions before it.
//
// Recurrent models keep one state per sequence and no past. There, a copy of the prompt's state (the checkpoint, shared
// by forks) is where a rollback begins again.
#include "lm/llama_session.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <utility>

#include "lm/log_softmax.h"
#include "lm/together.h"
#include "support/str_cat.h"

namespace metactrl::lm {

namespace {

using internal::str_cat;

std::size_t index_of(TokenId token) { return static_cast<std::size_t>(static_cast<std::int32_t>(token)); }

void check_token(TokenId token, const LlamaEngine& engine) {
  const auto id = static_cast<std::int32_t>(token);
  if (id < 0 || index_of(token) >= engine.vocabulary_size()) {
    throw std::invalid_argument(
        str_cat("token ", id, " is not in the vocabulary of ", engine.vocabulary_size(), " tokens"));
  }
}

llama_seq_id take_or_throw(LlamaEngine& engine) {
  if (const auto sequence = engine.take_sequence()) return *sequence;
  throw ModelError(str_cat("all ", engine.max_sequences(),
                           " sessions of this model are in use; end some, or raise ModelOptions::max_sequences"));
}

}  // namespace

struct LlamaSession::Checkpoint {
  std::shared_ptr<LlamaEngine> engine;
  llama_seq_id sequence = -1;
  std::size_t size = 0;
  std::shared_ptr<Row> logits;

  Checkpoint(std::shared_ptr<LlamaEngine> e, llama_seq_id s, std::size_t n, std::shared_ptr<Row> l)
      : engine(std::move(e)), sequence(s), size(n), logits(std::move(l)) {}
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  // Dropped by a session without the lock.
  ~Checkpoint() { engine->retire(sequence); }
};

LlamaSession::LlamaSession(std::shared_ptr<LlamaEngine> engine, std::span<const TokenId> prompt)
    : engine_(std::move(engine)) {
  append(prompt);
  {
    const std::scoped_lock lock(engine_->mutex());
    sequence_ = take_or_throw(*engine_);
  }
  try {
    // What prompts have in common is read once for all.
    {
      const std::scoped_lock lock(engine_->mutex());
      evaluated_ = engine_->begin_with_prefix(sequence_, tokens_, num_calls_);
    }
    prepare_logits();
  } catch (...) {
    const std::scoped_lock lock(engine_->mutex());
    engine_->give_back(sequence_);
    throw;
  }
  if (engine_->can_cut()) return;
  const std::scoped_lock lock(engine_->mutex());
  make_checkpoint();
}

LlamaSession::LlamaSession(const LlamaSession& other, llama_seq_id sequence)
    : engine_(other.engine_),
      sequence_(sequence),
      tokens_(other.tokens_),
      evaluated_(other.evaluated_),
      logits_(other.logits_),
      logits_size_(other.logits_size_),
      checkpoint_(other.checkpoint_),
      cut_(other.cut_ || !other.guess_.tokens.empty()) {
  engine_->copy(other.sequence_, sequence_);
  engine_->welcome(sequence_);
}

LlamaSession::~LlamaSession() { engine_->retire(sequence_); }

void LlamaSession::append(std::span<const TokenId> tokens) {
  for (const TokenId token : tokens) check_token(token, *engine_);
  if (tokens_.size() + tokens.size() > engine_->context_length()) {
    throw ContextError(str_cat("the context is full: ", tokens_.size(), " tokens and ", tokens.size(),
                               " more are beyond its ", engine_->context_length()));
  }
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
}

std::span<const float> LlamaSession::logits() {
  if (logits_size_ != tokens_.size() || tokens_.empty()) prepare_logits();
  return *logits_;
}

void LlamaSession::expect(std::span<const std::vector<TokenId>> continuations) {
  expected_.clear();
  // However many come true, more than these are not worth their way through the model.
  constexpr std::size_t kMost = 24;
  std::size_t room = std::min(engine_->spare_tokens(), kMost);
  const std::size_t most = engine_->is_batched() ? 1 : engine_->scratch().size();
  for (const std::vector<TokenId>& continuation : continuations) {
    if (continuation.empty() || continuation.size() > room || expected_.size() == most) continue;
    for (const TokenId token : continuation) check_token(token, *engine_);
    room -= continuation.size();
    expected_.push_back(continuation);
  }
}

bool LlamaSession::take_expected() {
  if (ahead_.branches.empty() || tokens_.size() <= evaluated_) return false;
  const std::scoped_lock lock(engine_->mutex());
  const Ahead ahead = std::exchange(ahead_, {});
  if (ahead.behind != evaluated_ || ahead.run != engine_->num_runs()) return false;
  const std::span<const TokenId> appended = std::span(tokens_).subspan(evaluated_);
  for (std::size_t i = 0; i < ahead.branches.size(); ++i) {
    const std::vector<TokenId>& branch = ahead.branches[i];
    if (!std::equal(branch.begin(), branch.end(), appended.begin(), appended.end())) continue;
    engine_->append(engine_->scratch()[i], sequence_, evaluated_);
    evaluated_ = tokens_.size();
    keep_logits(engine_->logits(ahead.entries[i]));
    engine_->drop_scratch();
    expected_.clear();  // nothing is read now
    return true;
  }
  return false;
}

bool LlamaSession::take_guess() {
  if (guess_.tokens.empty() || tokens_.size() <= evaluated_) return false;
  const std::span<const TokenId> appended = std::span(tokens_).subspan(evaluated_);
  const std::vector<TokenId> guess = std::exchange(guess_.tokens, {});
  const auto end = std::mismatch(guess.begin(), guess.end(), appended.begin(), appended.end());
  evaluated_ += static_cast<std::size_t>(end.first - guess.begin());
  cut_ = end.first != guess.end();
  if (cut_ || evaluated_ < tokens_.size()) return false;
  take_logits(guess_.logits);
  expected_.clear();  // nothing is read now
  return true;
}

void LlamaSession::drop_guess() {
  if (!cut_ && guess_.tokens.empty()) return;
  const std::scoped_lock lock(engine_->mutex());
  if (!engine_->cut(sequence_, evaluated_)) evaluated_ = 0;
  guess_.tokens.clear();
  cut_ = false;
}

bool LlamaSession::read_expected() {
  if (engine_->is_batched()) return false;
  const std::vector<std::vector<TokenId>> branches = std::exchange(expected_, {});
  std::size_t total = tokens_.size() - evaluated_;
  std::size_t longest = 0;
  for (const std::vector<TokenId>& branch : branches) {
    total += branch.size();
    longest = std::max(longest, branch.size());
  }
  const bool fits = total <= engine_->max_batch() && tokens_.size() + longest <= engine_->context_length();
  if (branches.empty() || evaluated_ == tokens_.size() || evaluated_ == 0 || !fits) return false;
  const std::scoped_lock lock(engine_->mutex());
  engine_->drop_scratch();
  const auto scratch = engine_->scratch().first(branches.size());
  std::vector<llama_seq_id> everywhere = {sequence_};
  for (const llama_seq_id sequence : scratch) {
    engine_->copy(sequence_, sequence);
    everywhere.push_back(sequence);
  }
  LlamaBatch& batch = engine_->batch();
  batch.clear();
  for (std::size_t i = evaluated_; i < tokens_.size(); ++i)
    batch.add(tokens_[i], i, everywhere, i + 1 == tokens_.size());
  const std::size_t trunk = batch.size();
  Ahead ahead;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (std::size_t k = 0; k < branches[i].size(); ++k) {
      batch.add(branches[i][k], tokens_.size() + k, scratch.subspan(i, 1), k + 1 == branches[i].size());
    }
    ahead.entries.push_back(batch.size() - 1);
  }
  try {
    engine_->run(batch);
  } catch (...) {
    // Perhaps for lack of room, of which this takes more than its share.
    for (const llama_seq_id sequence : scratch) engine_->empty(sequence);
    if (!engine_->cut(sequence_, evaluated_)) evaluated_ = 0;
    return false;
  }
  engine_->keep_scratch(scratch.size());
  ++num_calls_;
  num_read_ += batch.size();
  evaluated_ = tokens_.size();
  keep_logits(engine_->logits(trunk - 1));
  ahead_ = {evaluated_, engine_->num_runs(), branches, std::move(ahead.entries)};
  return true;
}

void LlamaSession::prepare_logits() {
  if (take_expected() || read_expected()) return;
  std::optional<Evaluation> evaluation = wanted_evaluation();
  if (!evaluation) return;
  try {
    engine_->evaluate(*evaluation);
  } catch (...) {
    forget_evaluation(*evaluation);
    throw;
  }
  take_evaluation(*evaluation);
}

void LlamaSession::prepare_together(std::span<LlamaSession* const> sessions) {
  struct Part {
    LlamaSession* session;
    Evaluation evaluation;
  };
  std::vector<Part> parts;
  for (LlamaSession* session : sessions) {
    if (std::optional<Evaluation> evaluation = session->wanted_evaluation()) {
      parts.push_back({session, std::move(*evaluation)});
    }
  }
  // By memory, and within one as they came.
  std::vector<bool> done(parts.size(), false);
  for (std::size_t first = 0; first < parts.size(); ++first) {
    if (done[first]) continue;
    std::vector<Part*> batch;
    std::vector<Evaluation*> evaluations;
    for (std::size_t i = first; i < parts.size(); ++i) {
      if (parts[i].session->engine_ != parts[first].session->engine_) continue;
      done[i] = true;
      batch.push_back(&parts[i]);
      evaluations.push_back(&parts[i].evaluation);
    }
    try {
      parts[first].session->engine_->evaluate(evaluations);
    } catch (...) {
      for (const Part* part : batch) part->session->forget_evaluation(part->evaluation);
      throw;
    }
    for (Part* part : batch) part->session->take_evaluation(part->evaluation);
  }
}

std::optional<Evaluation> LlamaSession::wanted_evaluation() {
  if (tokens_.empty()) throw ModelError("a session without tokens has no logits");
  if (logits_size_ == tokens_.size() || take_guess()) return std::nullopt;
  // The memory has the last token but its logits are gone: it is evaluated again.
  if (evaluated_ == tokens_.size()) {
    const std::scoped_lock lock(engine_->mutex());
    shorten(tokens_.size() - 1);
  }
  if (logits_size_ == tokens_.size()) return std::nullopt;  // restored from the checkpoint
  Evaluation evaluation{sequence_, tokens_, evaluated_, cut_};
  // A row of a large vocabulary is half a megabyte: it is written where the last one was.
  if (owns_logits()) {
    evaluation.row.logits.swap(*logits_);
    logits_size_ = 0;
  }
  const std::vector<std::vector<TokenId>> expected = std::exchange(expected_, {});
  if (!expected.empty() && engine_->is_batched() &&
      tokens_.size() + expected.front().size() <= engine_->context_length()) {
    guess_.tokens = expected.front();
    evaluation.guess.tokens = guess_.tokens;
    evaluation.guess.row.logits.swap(guess_.logits);
  }
  return evaluation;
}

void LlamaSession::take_evaluation(Evaluation& evaluation) {
  num_calls_ += evaluation.calls;
  num_read_ += evaluation.read;
  evaluated_ = tokens_.size();
  take_logits(evaluation.row.logits);
  guess_.logits.swap(evaluation.guess.row.logits);
  if (!evaluation.guess.read) guess_.tokens.clear();
  cut_ = false;
}

void LlamaSession::forget_evaluation(const Evaluation& evaluation) {
  const std::scoped_lock lock(engine_->mutex());
  if (!engine_->cut(sequence_, evaluated_)) evaluated_ = 0;
  guess_.tokens.clear();
  cut_ = false;
  num_calls_ += evaluation.calls;
  num_read_ += evaluation.read;
}

bool LlamaSession::owns_logits() const {
  if (logits_ == nullptr || logits_.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // what a fork on another thread did before it let go
  return true;
}

void LlamaSession::take_logits(Row& row) {
  if (owns_logits()) {
    logits_->swap(row);
  } else {
    logits_ = std::make_shared<Row>(std::move(row));
  }
  logits_size_ = evaluated_;
}

void LlamaSession::keep_logits(std::span<const float> row) {
  if (owns_logits()) {
    logits_->assign(row.begin(), row.end());
  } else {
    logits_ = std::make_shared<Row>(row.begin(), row.end());
  }
  logits_size_ = evaluated_;
}

void LlamaSession::make_checkpoint() {
  // Not when sessions are scarce: it saves time, not more.
  const auto sequence = engine_->take_sequence(engine_->max_sequences() / 2);
  if (!sequence) return;
  engine_->copy(sequence_, *sequence);
  checkpoint_ = std::make_shared<const Checkpoint>(engine_, *sequence, evaluated_, logits_);
}

void LlamaSession::rollback(std::size_t size) {
  if (size >= tokens_.size()) return;
  tokens_.resize(size);
  if (logits_size_ > size) logits_size_ = 0;
  // Other tokens may follow: from here on the checkpoint is not this session's past.
  if (checkpoint_ != nullptr && checkpoint_->size > size) checkpoint_.reset();
  if (evaluated_ > size) {
    const std::scoped_lock lock(engine_->mutex());
    shorten(size);
  }
}

void LlamaSession::shorten(std::size_t size) {
  guess_.tokens.clear();
  cut_ = false;
  if (engine_->cut(sequence_, size)) {
    evaluated_ = size;
    return;
  }
  evaluated_ = 0;
  if (checkpoint_ == nullptr) return;
  // It may be one token longer than asked for, which is as good: that one is the list's last, and its logits are there.
  engine_->copy(checkpoint_->sequence, sequence_);
  evaluated_ = checkpoint_->size;
  if (evaluated_ == tokens_.size()) {
    logits_ = checkpoint_->logits;
    logits_size_ = evaluated_;
  }
}

std::unique_ptr<Session> LlamaSession::fork() {
  // Evaluated here, tokens are shared; later, each fork would have to.
  if (evaluated_ < tokens_.size()) prepare_logits();
  const std::scoped_lock lock(engine_->mutex());
  const llama_seq_id sequence = take_or_throw(*engine_);
  return std::unique_ptr<Session>(new LlamaSession(*this, sequence));
}

std::vector<std::vector<float>> LlamaSession::score(std::span<const std::vector<TokenId>> paths) {
  const TokenTree tree(paths);
  const std::vector<TokenTree::Node>& nodes = tree.nodes();
  std::vector<std::vector<std::uint32_t>> children(nodes.size());
  std::size_t deepest = 0;
  for (std::uint32_t i = 1; i < nodes.size(); ++i) {
    children[nodes[i].parent].push_back(i);
    deepest = std::max<std::size_t>(deepest, nodes[i].depth);
    check_token(nodes[i].token, *engine_);
  }
  if (tokens_.size() + deepest > engine_->context_length() + 1) {
    throw ContextError(str_cat("the context is full: ", tokens_.size(), " tokens and a continuation of ", deepest,
                               " are beyond its ", engine_->context_length()));
  }

  drop_guess();
  std::vector<float> log_probability(nodes.size(), 0.0F);
  const std::size_t max_leaves = engine_->can_cut() ? engine_->scratch().size() : 1;
  const std::vector<TokenTree::Group> groups = tree.groups(max_leaves);
  // Tokens not evaluated yet, or whose logits are gone, go along with the first group where that can be.
  const bool goes_along = !groups.empty() && engine_->can_cut() && tokens_.size() - evaluated_ < engine_->max_batch();
  const bool lacks_logits = nodes.size() > 1 && logits_size_ != tokens_.size();
  if (lacks_logits && (!goes_along || tokens_.empty())) prepare_logits();
  {
    drop_guess();
    const std::scoped_lock lock(engine_->mutex());
    if (lacks_logits && logits_size_ != tokens_.size() && evaluated_ == tokens_.size()) shorten(tokens_.size() - 1);
    for (const TokenTree::Group& group : groups) run_group(tree, group, children, log_probability);
    if (nodes.size() > 1) {
      const double total = log_sum_exp(*logits_);
      for (const std::uint32_t child : children[0]) {
        log_probability[child] = static_cast<float>((*logits_)[index_of(nodes[child].token)] - total);
      }
    }
  }

  std::vector<std::vector<float>> result(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (const std::uint32_t node : tree.nodes_of(i)) result[i].push_back(log_probability[node]);
  }
  return result;
}

void LlamaSession::run_group(const TokenTree& tree, const TokenTree::Group& group,
                             std::span<const std::vector<std::uint32_t>> children,
                             std::vector<float>& log_probability) {
  const std::vector<TokenTree::Node>& nodes = tree.nodes();
  engine_->drop_scratch();
  const auto scratch = engine_->scratch().first(std::min(group.leaves.size(), engine_->scratch().size()));
  for (const llama_seq_id sequence : scratch) engine_->copy(sequence_, sequence);

  const auto clean_up = [&] {
    for (const llama_seq_id sequence : scratch) engine_->empty(sequence);
  };
  // Nodes are in depth-first order: whatever the batches, a node comes behind its ancestors.
  std::vector<std::vector<llama_seq_id>> through(nodes.size());
  for (std::size_t i = 0; i < group.leaves.size(); ++i) {
    for (std::uint32_t node = group.leaves[i]; node != 0; node = nodes[node].parent)
      through[node].push_back(scratch[i]);
  }
  std::vector<llama_seq_id> everywhere(scratch.begin(), scratch.end());
  everywhere.insert(everywhere.begin(), sequence_);

  LlamaBatch& batch = engine_->batch();
  std::size_t next = 0;
  try {
    while (next < group.nodes.size()) {
      batch.clear();
      for (std::size_t i = evaluated_; i < tokens_.size(); ++i)
        batch.add(tokens_[i], i, everywhere, i + 1 == tokens_.size());
      const std::size_t trunk = batch.size();
      const std::size_t first = next;
      const std::size_t outputs = LlamaEngine::kMaxOutputs - (trunk > 0 ? 1 : 0);
      for (; next < group.nodes.size() && next - first < outputs && batch.size() < engine_->max_batch(); ++next) {
        const TokenTree::Node& node = nodes[group.nodes[next]];
        batch.add(node.token, tokens_.size() + node.depth - 1, through[group.nodes[next]], true);
      }
      engine_->run(batch);
      ++num_calls_;
      num_read_ += batch.size();
      if (trunk > 0) {
        evaluated_ = tokens_.size();
        keep_logits(engine_->logits(trunk - 1));
      }
      for (std::size_t i = first; i < next; ++i) {
        const std::span<const float> row = engine_->logits(trunk + i - first);
        const double total = log_sum_exp(row);
        for (const std::uint32_t child : children[group.nodes[i]]) {
          log_probability[child] = static_cast<float>(row[index_of(nodes[child].token)] - total);
        }
      }
    }
  } catch (...) {
    clean_up();
    if (!engine_->cut(sequence_, evaluated_)) evaluated_ = 0;
    throw;
  }
  clean_up();
}

void prepare_together(std::span<Session* const> sessions) {
  std::vector<LlamaSession*> own;
  for (Session* session : sessions) {
    if (auto* llama = dynamic_cast<LlamaSession*>(session)) own.push_back(llama);
  }
  LlamaSession::prepare_together(own);
}

}  // namespace metactrl::lm
