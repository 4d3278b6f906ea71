#include "image_codecs.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After stdio, which they forget to include. */
#include <jerror.h>
#include <jpeglib.h>
#include <png.h>

/* What setjmp and longjmp must keep lives in these structs, never in registers. */
typedef struct {
  jmp_buf on_error;
  bp_image_t* image;
  const unsigned char* file;
  size_t size;
  size_t at;
  png_structp png;
  png_infop info;
  int done;
} png_state_t;

typedef struct {
  struct jpeg_error_mgr errors;
  struct jpeg_progress_mgr progress;
  jmp_buf on_error;
  bp_image_t* image;
  struct jpeg_decompress_struct jpeg;
  int done;
} jpeg_state_t;

static void set_message(bp_image_t* image, const char* who, const char* text) {
  snprintf(image->message, sizeof(image->message), "%s%s", who, text);
}

/* Memory for the pixels, or a message. `most` is what `size` bytes can hold at the best. */
static int allocate_pixels(bp_image_t* image, size_t size, double most) {
  const double bytes =
      (double)image->width * image->height * image->channels * image->bytes_per_sample;
  if ((double)image->width * image->height > most) {
    snprintf(image->message, sizeof(image->message),
             "its %u x %u pixels cannot come from %zu bytes; it is cut short or damaged",
             image->height, image->width, size);
    return 0;
  }
  image->pixels = bytes < 9e18 ? malloc((size_t)bytes) : NULL;
  if (image->pixels == NULL) set_message(image, "", "no memory for its pixels");
  return image->pixels != NULL;
}

static int fail(bp_image_t* image) {
  free(image->pixels);
  image->pixels = NULL;
  return 1;
}

static void png_on_error(png_structp png, png_const_charp text) {
  png_state_t* state = png_get_error_ptr(png);
  set_message(state->image, "libpng: ", text);
  longjmp(state->on_error, 1);
}

static void png_on_warning(png_structp png, png_const_charp text) {
  (void)png;
  (void)text;
}

static void png_take(png_structp png, png_bytep out, size_t count) {
  png_state_t* state = png_get_io_ptr(png);
  if (count > state->size - state->at) png_error(png, "the file is cut short");
  memcpy(out, state->file + state->at, count);
  state->at += count;
}

static void png_set_transforms(png_state_t* state) {
  const png_byte color = png_get_color_type(state->png, state->info);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(state->png);
  if (color == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(state->png);
  png_set_strip_alpha(state->png);
  const uint16_t one = 1;
  if (*(const unsigned char*)&one == 1) png_set_swap(state->png);
}

static void png_decode(png_state_t* state) {
  bp_image_t* image = state->image;
  png_set_read_fn(state->png, state, png_take);
  png_read_info(state->png, state->info);
  image->width = png_get_image_width(state->png, state->info);
  image->height = png_get_image_height(state->png, state->info);
  const double bits_per_pixel =
      png_get_bit_depth(state->png, state->info) * png_get_channels(state->png, state->info);
  png_set_transforms(state);
  const int passes = png_set_interlace_handling(state->png);
  png_read_update_info(state->png, state->info);
  image->channels = png_get_channels(state->png, state->info);
  image->bytes_per_sample = png_get_bit_depth(state->png, state->info) / 8;
  /* Deflate makes at most 1032 bytes of one. */
  if (!allocate_pixels(image, state->size, 1032.0 * 8 * (double)state->size / bits_per_pixel)) {
    longjmp(state->on_error, 1);
  }
  const size_t stride = png_get_rowbytes(state->png, state->info);
  for (int pass = 0; pass < passes; ++pass) {
    for (uint32_t y = 0; y < image->height; ++y) {
      png_read_row(state->png, image->pixels + y * stride, NULL);
    }
  }
  png_read_end(state->png, NULL);
  state->done = 1;
}

int bp_decode_png(const unsigned char* file, size_t size, bp_image_t* image) {
  memset(image, 0, sizeof(*image));
  png_state_t state = {.image = image, .file = file, .size = size};
  state.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &state, png_on_error, png_on_warning);
  if (state.png == NULL) {
    if (image->message[0] == '\0') set_message(image, "", "libpng cannot start");
    return fail(image);
  }
  if (setjmp(state.on_error) == 0) {
    state.info = png_create_info_struct(state.png);
    if (state.info == NULL) png_error(state.png, "no memory");
    png_decode(&state);
  }
  png_destroy_read_struct(&state.png, &state.info, NULL);
  return state.done ? 0 : fail(image);
}

static void jpeg_on_error(j_common_ptr jpeg) {
  jpeg_state_t* state = jpeg->client_data;
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  set_message(state->image, "libjpeg: ", text);
  longjmp(state->on_error, 1);
}

/* Warnings mean pixels made up, so they are errors; but for those that cameras' files give. */
static void jpeg_on_message(j_common_ptr jpeg, int level) {
  const int code = jpeg->err->msg_code;
  if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM &&
      code != JWRN_TOO_MUCH_DATA) {
    jpeg_on_error(jpeg);
  }
}

static void jpeg_print_nothing(j_common_ptr jpeg) {
  (void)jpeg;
}

/* A small file can ask for very many passes over a very large image. */
static void jpeg_on_progress(j_common_ptr jpeg) {
  jpeg_state_t* state = jpeg->client_data;
  if (state->jpeg.input_scan_number > 500) {
    set_message(state->image, "", "it has more than 500 scans");
    longjmp(state->on_error, 1);
  }
}

static void jpeg_decode(jpeg_state_t* state, const unsigned char* file, size_t size) {
  struct jpeg_decompress_struct* jpeg = &state->jpeg;
  bp_image_t* image = state->image;
  jpeg_create_decompress(jpeg);
  state->progress.progress_monitor = jpeg_on_progress;
  jpeg->progress = &state->progress;
  jpeg_mem_src(jpeg, file, size);
  jpeg_read_header(jpeg, TRUE);
  const J_COLOR_SPACE color = jpeg->jpeg_color_space;
  if (color != JCS_GRAYSCALE && color != JCS_YCbCr && color != JCS_RGB) {
    set_message(image, "",
                "its colors are not gray, YCbCr or RGB (CMYK, as for print); convert it");
    longjmp(state->on_error, 1);
  }
  image->width = jpeg->image_width;
  image->height = jpeg->image_height;
  image->channels = color == JCS_GRAYSCALE ? 1 : 3;
  image->bytes_per_sample = 1;
  /* A block of 64 pixels takes at least one bit. */
  if (!allocate_pixels(image, size, 64.0 * 8 * (double)size)) longjmp(state->on_error, 1);
  jpeg->out_color_space = color == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(jpeg);
  const size_t stride = (size_t)image->width * image->channels;
  while (jpeg->output_scanline < jpeg->output_height) {
    JSAMPROW row = image->pixels + jpeg->output_scanline * stride;
    jpeg_read_scanlines(jpeg, &row, 1);
  }
  jpeg_finish_decompress(jpeg);
  state->done = 1;
}

int bp_decode_jpeg(const unsigned char* file, size_t size, bp_image_t* image) {
  memset(image, 0, sizeof(*image));
  jpeg_state_t state = {.image = image};
  state.jpeg.err = jpeg_std_error(&state.errors);
  state.errors.error_exit = jpeg_on_error;
  state.errors.emit_message = jpeg_on_message;
  state.errors.output_message = jpeg_print_nothing;
  state.jpeg.client_data = &state;
  if (setjmp(state.on_error) == 0) jpeg_decode(&state, file, size);
  jpeg_destroy_decompress(&state.jpeg);
  return state.done ? 0 : fail(image);
}
