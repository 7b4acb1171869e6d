// Hidden Markov models that were trained: of plans for constraints, of tokens for decoders.
#include "metactrl/hmm.h"

#include "c/handles.h"
#include "c/json.h"

namespace metactrl::c {

namespace {

std::string hmm_json(const Hmm& hmm) {
  const Alphabet& alphabet = hmm.alphabet();
  const std::vector<std::string>& names = alphabet.names;
  const bool of_plans = alphabet.is_meta();
  JsonObject object;
  object.text("level", of_plans ? "meta" : "token").raw("hidden", internal::str_cat(hmm.num_hidden()));
  object.raw("symbols", internal::str_cat(alphabet.size));
  const std::size_t num_names = of_plans ? alphabet.num_actions : 0;
  object.texts("actions", {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(num_names)});
  object.raw("slots", internal::str_cat(alphabet.num_slots));
  object.raw("vocabulary", alphabet.vocabulary == 0 ? "null" : internal::str_cat(alphabet.vocabulary));
  return object.text("made_by", hmm.made_by()).raw("step", internal::str_cat(hmm.step())).done();
}

}  // namespace

std::optional<Hmm> hmm_of(const metactrl_hmm* hmm, bool of_plans, const char* name) {
  if (hmm == nullptr) return std::nullopt;
  const Hmm& given = live(hmm, name).hmm;
  if (given.alphabet().is_meta() != of_plans) {
    throw InputError(name, of_plans ? "this is a model of tokens" : "this is a model of plans",
                     of_plans ? "give one that was trained at level meta" : "give one that was trained at level token");
  }
  return given;
}

}  // namespace metactrl::c

metactrl_status metactrl_hmm_load(const char* file, metactrl_hmm** out, metactrl_error** error) {
  return metactrl::c::guarded(error, [&] {
    metactrl::c::required(out, "out");
    metactrl::c::required(file, "file");
    *out = std::make_unique<metactrl_hmm>(metactrl::Hmm::load(file)).release();
  });
}

metactrl_status metactrl_hmm_info(const metactrl_hmm* hmm, metactrl_text** out, metactrl_error** error) {
  return metactrl::c::guarded(error, [&] {
    metactrl::c::required(out, "out");
    *out = metactrl::c::make_text(metactrl::c::hmm_json(metactrl::c::live(hmm, "hmm").hmm));
  });
}

void metactrl_hmm_free(metactrl_hmm* hmm) {
  if (hmm != nullptr && hmm->is_live()) delete hmm;
}
