/* The right name, and code behind it. */
__attribute__((visibility("default"))) int backplane_plugin_v1(void) {
  return 0;
}
