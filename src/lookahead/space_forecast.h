// How far an enumeration would come that was cut short: a guess from how the number of states grew with the depth.
//
//     SpaceResult first = Space::enumerate(program, little);
//     SpaceForecast more = forecast(first, 200'000);
//     if (more.fits) ...                       // so many states may be all there are
//     if (more.depth >= wanted) ...            // or may be enough for all of this depth
//
// A guess, which only decides what is tried: deterministic, from the numbers of the layers alone.
#ifndef METACTRL_SRC_LOOKAHEAD_SPACE_FORECAST_H_
#define METACTRL_SRC_LOOKAHEAD_SPACE_FORECAST_H_

#include <cstddef>

#include "lookahead/space.h"

namespace metactrl::lookahead {

struct SpaceForecast {
  bool fits = true;
  unsigned depth = Space::kNoDepthLimit;  // that is known whole; where all states fit, the deepest there is
};

// With at most `states` of them. Where too few layers were seen to tell, everything fits.
SpaceForecast forecast(const SpaceResult& seen, double states);

}  // namespace metactrl::lookahead

#endif  // METACTRL_SRC_LOOKAHEAD_SPACE_FORECAST_H_
