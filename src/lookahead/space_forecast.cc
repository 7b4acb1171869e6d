// A layer is some times as large as the one before. In a space that ends this factor falls, from many at the start to less
// than one where most has been seen; where things can be done in any order, like a bell. So the logarithm of the factor is
// taken to go on falling as it did over the second half of the layers, and where it did not fall, to stay.
#include "lookahead/space_forecast.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace metactrl::lookahead {

SpaceForecast forecast(const SpaceResult& seen, double states) {
  constexpr std::size_t kFewLayers = 3;
  constexpr std::size_t kPart = 4;  // of a layer, to be worth extrapolating
  constexpr unsigned kDeepest = 100'000;
  std::vector<double> layers(seen.layers.begin(), seen.layers.end());
  SpaceForecast result;
  double total = 0;
  for (const double layer : layers) total += layer;
  auto depth = static_cast<unsigned>(layers.size()) - 1;
  if (kPart * seen.expanded >= seen.layers.back()) {
    layers.push_back(static_cast<double>(seen.beyond) * layers.back() / static_cast<double>(seen.expanded));
    total += layers.back();
    if (total <= states) ++depth;
  }
  if (layers.size() < kFewLayers) return result;
  const std::size_t last = layers.size() - 1;
  const std::size_t middle = std::max<std::size_t>(1, last / 2);
  const auto growth = [&](std::size_t i) { return std::log(std::max(1.0, layers[i]) / layers[i - 1]); };
  const double fall = (growth(middle) - growth(last)) / static_cast<double>(last - middle);
  double layer = layers.back();
  for (double now = growth(last); layer >= 1 && total <= states && depth < kDeepest; ++depth) {
    now -= std::max(0.0, fall);
    layer *= std::exp(now);
    total += layer;
    if (total > states) break;
  }
  result.fits = total <= states;
  result.depth = depth;
  return result;
}

}  // namespace metactrl::lookahead
