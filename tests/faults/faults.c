// A system on which things go wrong, for a program that knows nothing of it: to be named in LD_PRELOAD.
//
// One call fails:
//
//   FAULTS_CALL=write|open|fsync|rename|malloc   which kind of call
//   FAULTS_AT=17                                 the 17th of them fails; with FAULTS_STAY set, so do all behind it; 0: none does
//   FAULTS_ERRNO=28                              with this error
//   FAULTS_FROM=problem.pddl                     counting begins when a file whose path ends so is opened; without it, at once
//   FAULTS_COUNTED=/tmp/n                        how many there were is written into this file when the program ends
//
// Of writes those to plain files count, of opens those that may make a file. `malloc` is every allocation.
//
// Clocks jump, at every third reading:
//
//   FAULTS_REAL=315360000    the time of day: ahead by so many seconds, behind by as many, and so on
//   FAULTS_STEADY=3600       the clock that never goes back: so many seconds further each time
//
// Threads are starved:
//
//   FAULTS_STARVE=3000       who asks for a mutex, has one, or begins, now and then sleeps up to so many microseconds
//
//   FAULTS_TOLD=/tmp/x       this file is made when a call has failed, a clock has jumped, or a thread has slept
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_int begun;
static atomic_long seen;

static void tell(void) {
  static atomic_int told;
  if (atomic_exchange(&told, 1)) return;
  const char* name = getenv("FAULTS_TOLD");
  if (name == NULL) return;
  const long file = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT, 0600);
  if (file >= 0) syscall(SYS_close, file);
}

// Whether this call is one that fails.
static int fails(const char* call) {
  static __thread int busy;  // getenv allocates nothing, but what it is asked from may
  if (!atomic_load(&begun) || busy) return 0;
  busy = 1;
  int result = 0;
  const char* wanted = getenv("FAULTS_CALL");
  const char* at = getenv("FAULTS_AT");
  if (wanted != NULL && at != NULL && strcmp(wanted, call) == 0) {
    const long number = atomic_fetch_add(&seen, 1) + 1;
    const long first = atol(at);
    result = number == first || (number > first && getenv("FAULTS_STAY") != NULL);
  }
  if (result) {
    tell();
    const char* error = getenv("FAULTS_ERRNO");
    errno = error == NULL ? EIO : atoi(error);
  }
  busy = 0;
  return result;
}

__attribute__((constructor)) static void begin(void) {
  if (getenv("FAULTS_FROM") == NULL) atomic_store(&begun, 1);
}

__attribute__((destructor)) static void count(void) {
  const char* name = getenv("FAULTS_COUNTED");
  if (name == NULL) return;
  const long file = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  char text[32];
  const int size = snprintf(text, sizeof text, "%ld\n", atomic_load(&seen));
  if (syscall(SYS_write, file, text, size) != size) abort();
  syscall(SYS_close, file);
}

static void look_at(const char* path) {
  const char* from = getenv("FAULTS_FROM");
  if (from == NULL || path == NULL || atomic_load(&begun)) return;
  const size_t size = strlen(path);
  const size_t wanted = strlen(from);
  if (size >= wanted && strcmp(path + size - wanted, from) == 0) atomic_store(&begun, 1);
}

static int is_plain(int file) {
  struct stat what;
  return fstat(file, &what) == 0 && S_ISREG(what.st_mode);
}

ssize_t write(int file, const void* data, size_t size) {
  if (is_plain(file) && fails("write")) return -1;
  return syscall(SYS_write, file, data, size);
}

ssize_t writev(int file, const struct iovec* parts, int count) {
  if (is_plain(file) && fails("write")) return -1;
  return syscall(SYS_writev, file, parts, count);
}

static int open_at(int folder, const char* path, int flags, mode_t mode) {
  look_at(path);
  if ((flags & O_CREAT) != 0 && fails("open")) return -1;
  return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(flags)                             \
  mode_t mode = 0;                              \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
    va_list rest;                               \
    va_start(rest, flags);                      \
    mode = va_arg(rest, mode_t);                \
    va_end(rest);                               \
  }

int open(const char* path, int flags, ...) {
  MODE(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  MODE(flags)
  return open_at(folder, path, flags, mode);
}

int fsync(int file) { return fails("fsync") ? -1 : (int)syscall(SYS_fsync, file); }

int rename(const char* from, const char* to) {
  return fails("rename") ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

void* malloc(size_t size) { return fails("malloc") ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails("malloc") ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails("malloc") ? NULL : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) { return fails("malloc") ? NULL : __libc_memalign(alignment, size); }
void* memalign(size_t alignment, size_t size) { return fails("malloc") ? NULL : __libc_memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  if (fails("malloc")) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out == NULL ? ENOMEM : 0;
}

// --- clocks that jump

enum { kReadings = 3 };
static atomic_long real_readings;
static atomic_long steady_readings;

static long seconds_of(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? 0 : atol(value);
}

// How far this clock is ahead of the true one, in seconds; `reads` is 1 where it is being read.
static long ahead(clockid_t clock, int reads) {
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI) {
    const long jump = seconds_of("FAULTS_REAL");
    if (jump == 0) return 0;
    const long times = (atomic_fetch_add(&real_readings, reads) + reads) / kReadings;
    if (times > 0) tell();
    return times == 0 ? 0 : times % 2 == 1 ? jump : -jump;
  }
  if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID) return 0;
  const long jump = seconds_of("FAULTS_STEADY");
  if (jump == 0) return 0;
  const long times = (atomic_fetch_add(&steady_readings, reads) + reads) / kReadings;
  if (times > 0) tell();
  return times * jump;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
  const int status = (int)syscall(SYS_clock_gettime, clock, out);
  if (status == 0) out->tv_sec += ahead(clock, 1);
  return status;
}

int gettimeofday(struct timeval* out, void* zone) {
  const int status = (int)syscall(SYS_gettimeofday, out, zone);
  if (status == 0) out->tv_sec += ahead(CLOCK_REALTIME, 1);
  return status;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}

// The end of a wait is a time of the clock that jumps, and the system waits by the true one.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* end) {
  static int (*next)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  struct timespec truly = *end;
  truly.tv_sec -= ahead(clock, 0);
  if (truly.tv_sec < 0) truly.tv_sec = 0;
  return next(condition, mutex, clock, &truly);
}

// --- threads that are starved

static void starve(void) {
  static long most = -1;
  static atomic_uint drawn;
  if (most < 0) most = seconds_of("FAULTS_STARVE");
  if (most == 0) return;
  // One in sixteen sleeps, by numbers that look like chance.
  const unsigned number = atomic_fetch_add(&drawn, 1U) * 2654435761U >> 7;
  if (number % 16 != 0) return;
  tell();
  const struct timespec rest = {0, 1000L * (long)(number / 16 % (unsigned long)most)};
  syscall(SYS_nanosleep, &rest, NULL);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static int (*next)(pthread_mutex_t*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  starve();
  const int status = next(mutex);
  starve();
  return status;
}

struct beginning {
  void* (*run)(void*);
  void* argument;
};

static void* begin_late(void* what) {
  const struct beginning beginning = *(struct beginning*)what;
  free(what);
  starve();
  return beginning.run(beginning.argument);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  static int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "pthread_create");
  struct beginning* const beginning = __libc_malloc(sizeof *beginning);
  if (beginning == NULL) return EAGAIN;
  beginning->run = run;
  beginning->argument = argument;
  const int status = next(thread, attributes, begin_late, beginning);
  if (status != 0) free(beginning);
  return status;
}
