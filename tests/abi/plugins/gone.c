/* The library that missing.c misses. */
#include <stdint.h>

int32_t gone(void);
int32_t gone(void) {
  return 0;
}
