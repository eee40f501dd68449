/* SPDX-License-Identifier: MIT
 *
 * Palette words: other words for an operation besides its name and its description. The palette
 * finds it by these, too. */
#ifndef RT_TUI_PALETTE_WORDS_H
#define RT_TUI_PALETTE_WORDS_H

#include "base/text.h"

/* name: of a command, a slash command (without the slash) or an action. Does one of its words contain
 * part? */
bool rt_palette_words_hold(const char *name, rt_str part);
/* Is this one of its words? */
bool rt_palette_words_have(const char *name, rt_str word);

#endif
