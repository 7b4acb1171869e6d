#include "cli/rate_line.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

#include "support/str_cat.h"

namespace metactrl::cli {

RateLine::RateLine(std::size_t total, std::string what, std::size_t before)
    : total_(total), what_(std::move(what)), before_(before), terminal_(::isatty(STDERR_FILENO) != 0) {}

void RateLine::done(std::size_t count, const std::string& more) {
  if (!terminal_ || count <= before_) return;
  const double seconds = watch_.seconds();
  if (seconds - shown_ < 0.1) return;
  shown_ = seconds;
  const double rate = static_cast<double>(count - before_) / seconds;
  const double left = static_cast<double>(total_ > count ? total_ - count : 0) / rate;
  const std::string line =
      internal::str_cat(count, " of ", total_, " ", what_, ", ", number_text(std::round(rate * 10) / 10),
                        " per second, ", static_cast<long>(left), " s left", more);
  clear();
  std::fputs(line.c_str(), stderr);
  width_ = line.size();
}

void RateLine::clear() {
  if (width_ == 0) return;
  std::fputs(("\r" + std::string(width_, ' ') + "\r").c_str(), stderr);
  width_ = 0;
}

}  // namespace metactrl::cli
