// What a world says, read with suspicion: it may be anybody's program.
#include <algorithm>
#include <cmath>
#include <set>

#include "robot/belief.h"
#include "support/nearest_name.h"
#include "support/str_cat.h"
#include "text/quote.h"

namespace metactrl {

using internal::str_cat;

Observation Observation::certain(const SceneState& facts) {
  Observation observation;
  for (const std::string& fact : facts) observation.sightings.push_back({{{{fact}, 1}}});
  return observation;
}

Observation World::look(const std::string& object) {
  throw WorldError(str_cat("the world was asked to look at '", object, "', which it cannot"));
}

namespace robot {

namespace {

void check_object(const std::string& object, const std::vector<std::string>& known, const char* what) {
  if (std::find(known.begin(), known.end(), object) != known.end()) return;
  const std::string guess = internal::did_you_mean(object, known);
  throw WorldError(str_cat("the world ", what, " '", text::printable(object), "', and there is no such object",
                           guess.empty() ? "" : "; " + guess));
}

// A number has one value, whichever alternative is true.
void check_number(const std::string& number, const Sighting& sighting, double sum) {
  for (const Alternative& alternative : sighting.alternatives) {
    const auto values = std::count_if(alternative.facts.begin(), alternative.facts.end(),
                                      [&](const std::string& fact) { return Scene::number(fact) == number; });
    if (values == 1) continue;
    throw WorldError(str_cat("the world reports an alternative that gives ", number,
                             values == 0 ? " no value" : " two values", "; each must give it one"));
  }
  if (sum >= 1 - 1e-6) return;
  throw WorldError(str_cat("the world reports values of ", number, " whose probabilities add up to ", sum,
                           "; a number always has a value, so they must add up to 1"));
}

void check_sighting(Sighting& sighting, const Scene& scene, std::set<std::string>& mentioned) {
  double sum = 0;
  std::set<std::string> own;
  std::set<std::string> numbers;
  std::set<std::vector<std::string>> patterns;
  for (Alternative& alternative : sighting.alternatives) {
    for (std::string& fact : alternative.facts) {
      std::string problem;
      const std::optional<std::string> read = scene.read_fact(fact, problem);
      if (!read)
        throw WorldError(str_cat("the world reports '", text::printable(fact), "': ", text::printable(problem, 500)));
      fact = *read;
      const std::string_view number = Scene::number(fact);
      if (!number.empty()) numbers.emplace(number);
      own.emplace(number.empty() ? std::string_view(fact) : number);
    }
    std::sort(alternative.facts.begin(), alternative.facts.end());
    alternative.facts.erase(std::unique(alternative.facts.begin(), alternative.facts.end()), alternative.facts.end());
    const std::string shown = alternative.facts.empty() ? "nothing" : alternative.facts.front();
    if (!(alternative.probability >= 0 && alternative.probability <= 1)) {
      throw WorldError(str_cat("the world reports ", shown, " with probability ", alternative.probability,
                               ", which is not between 0 and 1"));
    }
    if (!patterns.insert(alternative.facts).second) {
      throw WorldError(str_cat("the world reports the alternative ", shown, " twice in one sighting"));
    }
    sum += alternative.probability;
  }
  const std::string shown = own.empty() ? "nothing" : *own.begin();
  if (sum > 1 + 1e-6) {
    throw WorldError(
        str_cat("the world reports alternatives to ", shown, " whose probabilities add up to ", sum, ", more than 1"));
  }
  for (const std::string& number : numbers) check_number(number, sighting, sum);
  for (const std::string& fact : own) {
    if (!mentioned.insert(fact).second) {
      throw WorldError(
          str_cat("the world reports ", fact, " in two sightings; facts that belong together go into one"));
    }
  }
}

}  // namespace

Observation checked(Observation observation, const Scene& scene) {
  const std::vector<std::string> objects = scene.objects();
  for (const std::string& object : observation.unseen) check_object(object, objects, "did not see");
  if (!observation.object.empty()) check_object(observation.object, objects, "looked at");
  std::set<std::string> mentioned;
  for (Sighting& sighting : observation.sightings) check_sighting(sighting, scene, mentioned);
  return observation;
}

bool is_certain(const Observation& observation) {
  if (!observation.complete || !observation.unseen.empty() || !observation.object.empty()) return false;
  return std::all_of(observation.sightings.begin(), observation.sightings.end(), [](const Sighting& sighting) {
    return std::all_of(sighting.alternatives.begin(), sighting.alternatives.end(), [](const Alternative& alternative) {
      return alternative.probability == 0 || alternative.probability == 1;
    });
  });
}

}  // namespace robot

}  // namespace metactrl
