/* SPDX-License-Identifier: MIT
 *
 * The table of formats, and the detection of an input's format. */
#include "formats/formats.h"

const rt_format *const rt_formats[] = {
#define ROW(id, name) &rt_format_##id,
	RT_FORMAT_TABLE(ROW, ROW, ROW) RT_IMPORTER_TABLE(ROW) NULL,
#undef ROW
};

enum {
	SNIFF_SIZE = 64 * 1024,
	SNIFF_FIRST = 8 * 1024, /* enough for most files: every format examines these bytes several times */
	SNIFF_CERTAIN = 90
};

const rt_format *
rt_format_find(rt_str name)
{
	for (size_t i = 0; rt_formats[i] != NULL; i++)
		if (rt_str_is(name, rt_formats[i]->name))
			return rt_formats[i];
	return NULL;
}

/* The surest format; *out_others: does another one match, too? */
static const rt_format *
sniff(rt_str head, int *out_sure, bool *out_others)
{
	const rt_format *best = NULL;

	*out_sure = 0;
	*out_others = false;
	for (size_t i = 0; rt_formats[i] != NULL; i++) {
		int sure = rt_formats[i]->sniff == NULL ? 0 : rt_formats[i]->sniff(head);

		*out_others = *out_others || (sure > 0 && best != NULL);
		if (sure > *out_sure) {
			best = rt_formats[i];
			*out_sure = sure;
		}
	}
	return best;
}

const rt_format *
rt_format_sniff(rt_str head)
{
	const rt_format *best;
	bool has_others;
	int sure;

	if (head.size > SNIFF_FIRST) {
		best = sniff(rt_str_at(head.ptr, SNIFF_FIRST), &sure, &has_others);
		if (sure >= SNIFF_CERTAIN && !has_others)
			return best;
	}
	if (head.size > SNIFF_SIZE)
		head.size = SNIFF_SIZE;
	return sniff(head, &sure, &has_others);
}

const rt_format *
rt_format_detect(rt_scope *s, const rt_input *in, rt_str *out_head)
{
	char *bytes = rt_scope_get(s, RT_INPUT_HEAD);
	const rt_format *best = NULL;
	size_t size = 0;
	int surest = 0, sure;

	RT_TRY(s, rt_input_head(in, bytes, &size, &s->error));
	*out_head = rt_str_at(bytes, rt_ok(s) ? size : 0);
	if (rt_ok(s))
		best = rt_format_sniff(*out_head);
	if (best != NULL)
		return best;
	for (size_t i = 0; rt_ok(s) && rt_formats[i] != NULL; i++) {
		sure = rt_formats[i]->examine == NULL
			       ? 0
			       : rt_formats[i]->examine(s, *out_head, in);
		if (sure > surest) {
			best = rt_formats[i];
			surest = sure;
		}
	}
	return best;
}
