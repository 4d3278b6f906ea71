/* The right name, and no table behind it. */
__attribute__((visibility("default"))) const char backplane_plugin_v1[400] = "this is no table";
