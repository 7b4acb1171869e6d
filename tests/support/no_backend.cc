// A shared library that is no backend of llama.cpp. Where a test wants it, it needs another that the system cannot find.
extern "C" {
#ifdef METACTRL_NEEDS_ANOTHER
int metactrl_from_elsewhere();
int metactrl_no_backend() { return metactrl_from_elsewhere(); }
#elif defined(METACTRL_IS_THE_OTHER)
int metactrl_from_elsewhere() { return 2; }
#else
int metactrl_no_backend() { return 1; }
#endif
}
