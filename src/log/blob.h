/* SPDX-License-Identifier: MIT
 *
 * Blob: the bytes of a file attached to an entry. They are stored once for each distinct content, in
 * a side row "blob/<SHA-256>". The entry's content has a block that refers to them:
 *
 *   {"type":"image","mimeType":"image/png","name":"screen.png","size":812,"sha256":"41…"}
 *   {"type":"file","mimeType":"application/pdf","name":"paper.pdf","size":99120,"sha256":"9c…"}
 *
 * Blocks are covered by undo like all content. The bytes stay as long as an entry, also an earlier
 * version or one that was undone, refers to them (log/collect.h), or until they are purged: with the
 * last entry that refers to them, or by a text that they contain. A block whose bytes were purged
 * remains.
 * Exports contain the bytes in the block itself, as "data" in base64 (rt_blob_expand).
 *
 * Threads: call from any thread. */
#ifndef RT_LOG_BLOB_H
#define RT_LOG_BLOB_H

#include "base/scope.h"
#include "base/sha256.h"
#include "codec/json.h"
#include "log/engine.h"

enum { RT_BLOB_MAX = 32 << 20 }; /* bytes */

/* Is the block an image or a file with its bytes in a blob? The hash, or empty. O(1). */
rt_str rt_blob_of(yyjson_val *block);
/* Stores the bytes unless they are stored already, and returns their SHA-256; one transaction. The
 * entry that refers to them follows; if none has for RT_BLOB_NEW_US, they may be removed. RT_USAGE:
 * empty. RT_LIMIT: more than RT_BLOB_MAX. RT_IO and the like. */
RT_CHECKED rt_status rt_blob_keep(rt_engine *engine, rt_str bytes, char sha256[RT_SHA256_HEX_ROOM],
				  rt_error *err);
/* Appends the bytes. RT_NOT_FOUND: they were purged, or never stored. */
RT_CHECKED rt_status rt_blob_read(rt_engine *engine, rt_str sha256, rt_buf *out, rt_error *err);
/* Stores the bytes of a file and appends its block; the type is found by the content. name: of the
 * file, without its directory. Fails the scope as rt_blob_keep does. */
void rt_blob_attach(rt_scope *s, rt_engine *engine, rt_str name, rt_str bytes, rt_buf *out);
/* The type of a PNG, JPEG, GIF or WebP image by its first bytes; else NULL. O(1). */
const char *rt_blob_image_type(rt_str bytes);
/* The type of a file by its content: one of the four image types, "application/pdf",
 * "text/plain" (UTF-8 without NUL), or "application/octet-stream". */
const char *rt_blob_type(rt_str bytes);

/* A JSON array of content blocks in which blobs are replaced by their bytes: without "sha256",
 * with "data". Purged bytes: with "purged":true. */
void rt_blob_expand(rt_scope *s, rt_engine *engine, yyjson_val *blocks, rt_buf *out);

#endif
