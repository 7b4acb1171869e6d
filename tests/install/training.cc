// A model is trained through the installed component.
#include <metactrl/training/train.h>

int main() {
  const metactrl::Alphabet alphabet = metactrl::Alphabet::meta({"open", "close"}, 1);
  const metactrl::SymbolId plan[] = {alphabet.action("open"), alphabet.slot(0), alphabet.end};
  metactrl::SequenceSet sequences;
  sequences.add(plan);
  const auto engine = metactrl::make_cpu_engine({});
  metactrl::Trainer trainer(metactrl::Hmm::random(alphabet, 2, 1), sequences, *engine, {});
  const double before = trainer.hmm().log_likelihood(plan);
  while (trainer.step()) {
  }
  return trainer.hmm().log_likelihood(plan) > before ? 0 : 1;
}
