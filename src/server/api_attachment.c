/* SPDX-License-Identifier: MIT
 *
 * Files attached to entries (log/blob.h): stored before the entry that refers to them is added. */
#include "server/api.h"

#include "log/blob.h"
#include "ops/format.h"
#include "server/idempotency.h"
#include "server/quota.h"

enum { NAME_MAX_SIZE = 200 };

static rt_str
read_body(rt_call *call)
{
	rt_scope *s = &call->scope;
	const rt_input *in = call->request->file;
	uint64_t size = in != NULL ? in->size : call->request->body.size;

	if (size > RT_BLOB_MAX)
		rt_scope_fail(s, RT_LIMIT, "the file is larger than %d MiB, the limit for attached files",
			      RT_BLOB_MAX >> 20);
	if (!rt_ok(s) || in == NULL)
		return call->request->body;
	char *bytes = rt_scope_get(s, (size_t)size + 1);
	size_t read = 0;

	for (size_t got = 1; rt_ok(s) && read < size && got > 0; read += got) {
		got = 0;
		RT_TRY(s, in->read_at(in->ctx, read, bytes + read, (size_t)size - read, &got,
				      &s->error));
	}
	return rt_ok(s) ? rt_str_at(bytes, read) : rt_str_of(NULL);
}

void
rt_api_attachment_new(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str name = rt_call_text(call, "name"), bytes = read_body(call);
	rt_buf *block = rt_scope_buf(s);

	if (name.size == 0)
		name = RT_STR("file");
	if (name.size > NAME_MAX_SIZE || rt_utf8_valid_size(name) < name.size ||
	    memchr(name.ptr, '/', name.size) != NULL)
		rt_scope_fail(s, RT_USAGE, "\"name\" must be a file name of up to %d bytes, without a directory",
			      NAME_MAX_SIZE);
	struct rt_idempotency *idem = rt_call_begin(call, RT_STR(""), RT_STR(""));
	rt_use added = {{[RT_QUOTA_BYTES] = bytes.size}};
	rt_call_check_quota(call, &added);
	if (!rt_ok(s))
		return;
	rt_blob_attach(s, call->open_project->engine, name, bytes, block);
	rt_buf *out = &call->answer->body;
	rt_json_open(out, NULL, '{');
	rt_json_add_key(out, "block");
	rt_buf_add_str(out, rt_scope_str(s, block));
	rt_json_close(out, '}');
	call->answer->status = 201;
	rt_call_count_use(call, &added);
	rt_call_keep(call, idem);
}

/* Only images are shown by a browser; everything else is a download. Nothing in them runs: the
 * policy of every answer forbids it, and types are not guessed (nosniff). */
void
rt_api_attachment(rt_call *call)
{
	rt_scope *s = &call->scope;
	rt_str name = rt_call_text(call, "name");
	rt_buf *out = &call->answer->body;

	RT_TRY(s, rt_blob_read(call->open_project->engine, rt_call_param(call, "sha256"), out,
			       &s->error));
	if (!rt_ok(s))
		return;
	const char *image = rt_blob_image_type(rt_buf_str(out));
	call->answer->type = image != NULL ? image : "application/octet-stream";
	if (image == NULL) {
		const char *type = rt_blob_type(rt_buf_str(out));
		const char *extension = strcmp(type, "application/pdf") == 0 ? ".pdf"
					: strcmp(type, "text/plain") == 0    ? ".txt"
									     : ".bin";
		rt_buf *disposition = rt_scope_buf(s);

		if (name.size > 4 && memcmp(name.ptr + name.size - 4, extension, 4) == 0)
			name.size -= 4;
		rt_api_add_disposition(disposition, name, extension);
		rt_call_header(call, "Content-Disposition", rt_scope_str(s, disposition));
	}
}
