// A start for training from clusters of vectors (latent variable distillation).
//
// K-means with k-means++ seeding: the first centre is drawn, each further one with probability proportional to the
// squared distance from those there are. Then places go to their nearest centre (the first of equals) and centres to
// the mean of their places, until nothing moves or the iterations end; a centre that lost all its places takes the
// place that is worst served. Sums run in the order of the places, in double: the result depends on the input and the
// seed alone. Threads share the places when distances are computed, which is nearly all of the work.
#include <algorithm>
#include <array>
#include <limits>
#include <thread>
#include <utility>

#include "metactrl/error.h"
#include "metactrl/training/train.h"
#include "support/splitmix.h"
#include "support/str_cat.h"

namespace metactrl {

using internal::str_cat;

namespace {

class KMeans {
 public:
  KMeans(std::span<const float> vectors, std::size_t dimension, std::size_t clusters, const ClusterOptions& options)
      : vectors_(vectors),
        dimension_(dimension),
        count_(vectors.size() / dimension),
        clusters_(clusters),
        threads_(options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency())),
        random_(options.seed),
        centres_(clusters * dimension),
        cluster_(count_),
        distance_(count_, std::numeric_limits<double>::max()) {}

  std::vector<std::uint32_t> run(std::size_t iterations) {
    seed_centres();
    for (std::size_t i = 0; i < iterations && assign(); ++i) move_centres();
    assign();
    return std::move(cluster_);
  }

 private:
  std::span<const float> vector(std::size_t i) const { return vectors_.subspan(i * dimension_, dimension_); }

  double squared_distance(std::size_t i, std::size_t cluster) const {
    const std::span<const float> v = vector(i);
    const double* const centre = centres_.data() + cluster * dimension_;
    // Sums of their own for every fourth number, so that the compiler may add them side by side.
    std::array<double, 4> sums{};
    std::size_t d = 0;
    for (; d + 4 <= dimension_; d += 4) {
      for (std::size_t k = 0; k < 4; ++k) sums[k] += (v[d + k] - centre[d + k]) * (v[d + k] - centre[d + k]);
    }
    for (; d < dimension_; ++d) sums[0] += (v[d] - centre[d]) * (v[d] - centre[d]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  // Calls each(first, last) for parts of the places, on several threads where that pays.
  template <typename Each>
  void share_places(const Each& each) const {
    constexpr std::size_t kFewest = 256;
    const std::size_t parts = std::clamp<std::size_t>(count_ / kFewest, 1, threads_);
    std::vector<std::jthread> helpers;
    for (std::size_t part = 1; part < parts; ++part) {
      helpers.emplace_back([&, part] { each(part * count_ / parts, (part + 1) * count_ / parts); });
    }
    each(0, count_ / parts);
  }

  void set_centre(std::size_t cluster, std::size_t i) {
    std::copy(vector(i).begin(), vector(i).end(), centres_.begin() + static_cast<std::ptrdiff_t>(cluster * dimension_));
  }

  void seed_centres() {
    set_centre(0, random_.below(count_));
    for (std::size_t cluster = 1; cluster < clusters_; ++cluster) {
      share_places([&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
          distance_[i] = std::min(distance_[i], squared_distance(i, cluster - 1));
        }
      });
      double sum = 0;
      for (const double distance : distance_) sum += distance;
      double target = random_.uniform() * sum;
      std::size_t chosen = count_ - 1;
      for (std::size_t i = 0; i < count_; ++i) {
        target -= distance_[i];
        if (target < 0) {
          chosen = i;
          break;
        }
      }
      set_centre(cluster, chosen);
    }
  }

  // True when a place changed its cluster.
  bool assign() {
    const std::vector<std::uint32_t> before = cluster_;
    share_places([&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        std::uint32_t best = 0;
        double least = std::numeric_limits<double>::max();
        for (std::uint32_t cluster = 0; cluster < clusters_; ++cluster) {
          const double distance = squared_distance(i, cluster);
          if (distance >= least) continue;
          least = distance;
          best = cluster;
        }
        cluster_[i] = best;
        distance_[i] = least;
      }
    });
    return !std::exchange(assigned_, true) || cluster_ != before;
  }

  void move_centres() {
    std::vector<std::size_t> sizes(clusters_);
    std::fill(centres_.begin(), centres_.end(), 0.0);
    for (std::size_t i = 0; i < count_; ++i) {
      ++sizes[cluster_[i]];
      double* const centre = centres_.data() + cluster_[i] * dimension_;
      const std::span<const float> v = vector(i);
      for (std::size_t d = 0; d < dimension_; ++d) centre[d] += v[d];
    }
    for (std::size_t cluster = 0; cluster < clusters_; ++cluster) {
      if (sizes[cluster] == 0) {
        const auto worst = std::max_element(distance_.begin(), distance_.end());
        set_centre(cluster, static_cast<std::size_t>(worst - distance_.begin()));
        *worst = 0;
        continue;
      }
      for (std::size_t d = 0; d < dimension_; ++d) {
        centres_[cluster * dimension_ + d] /= static_cast<double>(sizes[cluster]);
      }
    }
  }

  std::span<const float> vectors_;
  std::size_t dimension_;
  std::size_t count_;
  std::size_t clusters_;
  std::size_t threads_;
  internal::Random random_;
  std::vector<double> centres_;
  std::vector<std::uint32_t> cluster_;  // per place
  std::vector<double> distance_;        // per place, squared, to its centre
  bool assigned_ = false;
};

}  // namespace

Hmm cluster_hmm(const Alphabet& alphabet, const SequenceSet& sequences, std::span<const float> vectors,
                std::size_t dimension, const ClusterOptions& options) {
  std::size_t places = 0;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    for (const SymbolId symbol : sequences[i]) {
      places += symbol != alphabet.end ? 1 : 0;
      if (static_cast<std::size_t>(symbol) < alphabet.size) continue;
      throw InputError("clusters", str_cat("sequence ", i, " holds a symbol outside of the alphabet"),
                       "use the alphabet that the sequences were made with");
    }
  }
  if (dimension == 0 || vectors.size() != places * dimension || places == 0) {
    throw InputError("clusters",
                     str_cat(places, " symbols need as many vectors of ", dimension, " numbers; there are ",
                             vectors.size(), " numbers"),
                     "give one vector for each symbol but the ends");
  }
  if (options.hidden < 2)
    throw InputError("clusters", "need at least two hidden states", "the last one is for the end");
  const std::size_t clusters = std::min(options.hidden - 1, places);
  const std::vector<std::uint32_t> cluster = KMeans(vectors, dimension, clusters, options).run(options.iterations);

  ExpectedCounts counts(options.hidden, alphabet.size);
  std::size_t place = 0;
  const std::size_t last_state = options.hidden - 1;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    std::size_t before = options.hidden;
    for (const SymbolId symbol : sequences[i]) {
      const std::size_t state = symbol == alphabet.end ? last_state : cluster[place++];
      const double weight = sequences.weight(i);
      if (before == options.hidden) {
        counts.initial[state] += weight;
      } else {
        counts.transition[before * options.hidden + state] += weight;
      }
      counts.emission[static_cast<std::size_t>(symbol) * options.hidden + state] += weight;
      before = state;
    }
  }
  TrainOptions counting;
  counting.pseudocount = options.pseudocount;
  const Hmm uniform_start(
      alphabet, options.hidden, std::vector<float>(options.hidden, 1.0F / static_cast<float>(options.hidden)),
      std::vector<float>(options.hidden * options.hidden, 1.0F / static_cast<float>(options.hidden)),
      std::vector<float>(alphabet.size * options.hidden, 1.0F / static_cast<float>(alphabet.size)),
      str_cat("clusters of ", places, " vectors, seed ", options.seed));
  return maximise(uniform_start, counts, counting, 0).with_step(0);
}

}  // namespace metactrl
