#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the named character references of HTML as C: tools/entities.py OUTPUT.c

The table is that of Python's html.entities, which follows the HTML standard. Only names that end
with a semicolon are written, since Markdown knows no others; they are sorted by their bytes."""
import html.entities
import sys


def main():
    names = sorted(name[:-1] for name in html.entities.html5 if name.endswith(";"))
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write('#include "markup/entity.h"\n\nconst rt_entity rt_entities[] = {\n')
        for name in names:
            text = html.entities.html5[name + ";"].encode("utf-8")
            octal = "".join(f"\\{byte:03o}" for byte in text)
            file.write(f'\t{{"{name}", "{octal}"}},\n')
        file.write(f"}};\nconst size_t rt_entity_count = {len(names)};\n")


if __name__ == "__main__":
    main()
