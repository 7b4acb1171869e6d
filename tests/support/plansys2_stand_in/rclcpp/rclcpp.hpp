#ifndef METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_RCLCPP_RCLCPP_HPP_
#define METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_RCLCPP_RCLCPP_HPP_

#include <cstdio>
#include <string>
#include <vector>

namespace rclcpp {

class Duration {
 public:
  explicit Duration(double seconds) : seconds_(seconds) {}
  double seconds() const { return seconds_; }

 private:
  double seconds_;
};

// Keeps what is said, for the test.
struct Logger {
  std::vector<std::string>* lines;
};

template <typename... Parts>
void log(const Logger& logger, const char* form, Parts... parts) {
  std::string text(4096, '\0');
  const int length = std::snprintf(text.data(), text.size(), form, parts...);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  logger.lines->push_back(std::move(text));
}

class Parameter {
 public:
  explicit Parameter(std::string value) : value_(std::move(value)) {}
  const std::string& as_string() const { return value_; }

 private:
  std::string value_;
};

}  // namespace rclcpp

#define RCLCPP_ERROR(logger, ...) rclcpp::log(logger, __VA_ARGS__)
#define RCLCPP_WARN(logger, ...) rclcpp::log(logger, __VA_ARGS__)

#endif  // METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_RCLCPP_RCLCPP_HPP_
