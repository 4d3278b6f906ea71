#!/bin/sh
# Files as C++ string literals, one after the other: quote.sh OUTPUT FILE…
set -e
output=$1
shift
{
  for file in "$@"; do
    printf 'R"cuda('
    cat "$file"
    printf ')cuda"\n'
  done
} > "$output"
