#!/bin/sh
# Lays a plugin out as an installation would: stage.sh LIBRARY MANIFEST FOLDER STAMP
set -e
install -d -m 755 "$3"
# Under another name first: a program that runs keeps the library that it has mapped.
install -m 755 "$1" "$3/.$(basename "$1").new"
mv -f "$3/.$(basename "$1").new" "$3/$(basename "$1")"
install -m 644 "$2" "$3/$(basename "$2")"
: > "$4"
