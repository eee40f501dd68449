/* SPDX-License-Identifier: MIT
 *
 * Encode: bytes as hexadecimal digits and as base64 (RFC 4648, section 4, with padding).
 *
 * Pure; call from any thread. */
#ifndef RT_BASE_ENCODE_H
#define RT_BASE_ENCODE_H

#include "base/text.h"

/* Write 2 * size lower-case digits to out, without a NUL. */
void rt_hex(const void *bytes, size_t size, char *out);

/* Append bytes as lower-case digits, or as base64. Failure is kept in buf. */
void rt_buf_add_hex(rt_buf *buf, rt_str bytes);
void rt_buf_add_base64(rt_buf *buf, rt_str bytes);
/* The same in the URL-safe alphabet, without padding (section 5). */
void rt_buf_add_base64url(rt_buf *buf, rt_str bytes);

/* The value of one digit, in either case; -1: not a digit. */
int rt_hex_digit(char c);
/* The value of count hexadecimal digits at byte `at` of text; -1: there are fewer. count is at
 * most 7. */
int rt_hex_number(rt_str text, size_t at, size_t count);
/* The value of one character, in the standard and the URL-safe alphabet alike; -1: in neither. */
int rt_base64_digit(char c);

/* Append the bytes that text encodes, up to its first "=". False: a character outside of the
 * standard alphabet; buf then has what came before it. */
bool rt_buf_add_base64_decoded(rt_buf *buf, rt_str text);

#endif
