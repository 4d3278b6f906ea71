/* PNG and JPEG files to pixels.
 *
 * In C, because both libraries leave on errors by longjmp, which may not pass over C++ objects;
 * nothing else here or above needs it. Neither prints, exits or leaks, whatever the bytes are. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  uint32_t width;
  uint32_t height;
  uint32_t channels;         /* 1 gray, 3 red, green, blue */
  uint32_t bytes_per_sample; /* 1, or 2 in the host's byte order */
  unsigned char* pixels;     /* [height, width, channels], to be given to free() */
  char message[256];         /* on failure, one line; pixels is NULL then */
} bp_image_t;

/* Decode a whole file. 0: done. Alpha and transparency are dropped, palettes and fewer than 8 bits
 * become 8, gamma and orientation are left as stored. */
int bp_decode_png(const unsigned char* file, size_t size, bp_image_t* image);
int bp_decode_jpeg(const unsigned char* file, size_t size, bp_image_t* image);

#ifdef __cplusplus
}
#endif
