/* The contract as text: the size of every struct, the offset of every field, every number. `layout
 * GOLDEN` compares it with what was released: lines may only be added. */
#include <backplane/ext/compile_all.h>
#include <backplane/ext/describe.h>
#include <backplane/ext/kernels.h>
#include <backplane/ext/state.h>
#include <backplane/ext/threads.h>
#include <backplane/ext/tune.h>
#include <backplane/plugin.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct row {
  const char* name;
  size_t number;
};

#define S(type) \
  { #type, sizeof(type) }
#define F(type, field) \
  { #type "." #field, offsetof(type, field) }
#define E(constant) \
  { #constant, constant }

static const struct row rows[] = {
#include "layout.inc"
};

int main(int argc, char** argv) {
  static char golden[1 << 16];
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  int wrong = 0;
  if (file != NULL) {
    golden[0] = '\n';
    golden[1 + fread(golden + 1, 1, sizeof golden - 2, file)] = '\0';
    fclose(file);
  }
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char line[100];
    snprintf(line, sizeof line, "\n%s %zu\n", rows[i].name, rows[i].number);
    if (argc < 2) fputs(line + 1, stdout);
    if (argc == 2 && strstr(golden, line) == NULL) {
      fprintf(stderr, "%s does not say:%s", argv[1], line);
      wrong = 1;
    }
  }
  return wrong;
}
