/* A library that is no plugin. */
__attribute__((visibility("default"))) int backplane_helper(void) {
  return 1;
}
