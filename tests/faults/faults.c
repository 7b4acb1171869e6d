// One call of the system that fails, for a program that knows nothing of it: to be named in LD_PRELOAD.
//
//   FAULTS_CALL=write|open|fsync|rename|malloc   which kind of call
//   FAULTS_AT=17                                 the 17th of them fails; with FAULTS_STAY set, so do all behind it
//   FAULTS_ERRNO=28                              with this error
//   FAULTS_FROM=problem.pddl                     counting begins when a file whose path ends so is opened; without it, at once
//   FAULTS_TOLD=/tmp/x                           this file is made when a call has failed
//
// Of writes those to plain files count, of opens those that may make a file. `malloc` is every allocation.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

static atomic_int begun;
static atomic_long seen;

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
    const char* told = getenv("FAULTS_TOLD");
    if (told != NULL) {
      const long file = syscall(SYS_openat, AT_FDCWD, told, O_WRONLY | O_CREAT, 0600);
      if (file >= 0) syscall(SYS_close, file);
    }
    const char* error = getenv("FAULTS_ERRNO");
    errno = error == NULL ? EIO : atoi(error);
  }
  busy = 0;
  return result;
}

__attribute__((constructor)) static void begin(void) {
  if (getenv("FAULTS_FROM") == NULL) atomic_store(&begun, 1);
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

#define MODE(flags)                        \
  mode_t mode = 0;                         \
  if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
    va_list rest;                          \
    va_start(rest, flags);                 \
    mode = va_arg(rest, mode_t);           \
    va_end(rest);                          \
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
