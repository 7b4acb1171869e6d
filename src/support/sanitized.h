// Whether the address or the thread sanitizer watches: GCC says so by macros, Clang by features.
#ifndef METACTRL_SUPPORT_SANITIZED_H_
#define METACTRL_SUPPORT_SANITIZED_H_

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define METACTRL_SANITIZED true
#elif defined(__has_feature)
#define METACTRL_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define METACTRL_SANITIZED false
#endif

#endif  // METACTRL_SUPPORT_SANITIZED_H_
