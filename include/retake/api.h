/* SPDX-License-Identifier: MIT
 *
 * What every header of libretake begins with; it declares nothing of its own.
 *
 * The rules that hold everywhere:
 *
 *   Names.     Functions and types begin with retake_, macros and constants with RETAKE_.
 *   Ownership. Arguments are borrowed for the call. What comes through an out_ parameter is
 *              the caller's to release. A plainly returned pointer is not.
 *   Failures.  What can fail returns a retake_status; error, where there is one, may be NULL.
 *              A failure leaves the out_ parameters as they were, unless the function says
 *              otherwise. A NULL where one is not allowed is RETAKE_USAGE.
 *   Text.      Names, addresses and queries are NUL-terminated; JSON and files are a pointer
 *              and a size (RETAKE_CSTR: up to the NUL). All of it is UTF-8; names and queries
 *              that are not are RETAKE_USAGE.
 *   Options.   A struct of options begins with its own size, so that it can grow: begin with
 *              its _INIT macro, or zero it and set size. NULL stands for the defaults, which
 *              are all zero.
 *   Threads.   All functions may be called from any thread, and at once with the same store
 *              or project, but for close, which must be the last call with what it closes.
 *              A child of fork must open its own.
 *   Growth.    Structs, enums, JSON objects may get further members. Nothing else changes
 *              while the first number of the version, or the soname, stays. */
#ifndef RETAKE_API_H
#define RETAKE_API_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RETAKE_API __attribute__((visibility("default")))
#define RETAKE_CHECKED __attribute__((warn_unused_result))
#else
#define RETAKE_API
#define RETAKE_CHECKED
#endif

#ifdef __cplusplus
#define RETAKE_BEGIN extern "C" {
#define RETAKE_END }
#else
#define RETAKE_BEGIN
#define RETAKE_END
#endif

/* As a size: the text ends at its first NUL. */
#define RETAKE_CSTR ((size_t)-1)

#endif
