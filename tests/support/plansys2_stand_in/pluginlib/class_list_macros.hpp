#ifndef METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLUGINLIB_CLASS_LIST_MACROS_HPP_
#define METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLUGINLIB_CLASS_LIST_MACROS_HPP_

#include <memory>

// The one plug-in of the program, made as a class loader makes it.
#define PLUGINLIB_EXPORT_CLASS(type, base) \
  std::shared_ptr<base> make_exported_class();  \
  std::shared_ptr<base> make_exported_class() { return std::make_shared<type>(); }

#endif  // METACTRL_TESTS_SUPPORT_PLANSYS2_STAND_IN_PLUGINLIB_CLASS_LIST_MACROS_HPP_
