/* SPDX-License-Identifier: MIT
 *
 * Runs universal-ctags with texts as its input, in its sandbox: it cannot open files, reads no
 * options and only gets names that begin with a number. */
#define _GNU_SOURCE

#include "files/symbols_impl.h"
#include "hooks/process.h"

enum {
	CTAGS_MS = 20000,
	CTAGS_OUT_MAX = 64 << 20 /* bytes of its output */
};

static const char *
find_ctags(rt_scope *s, const char *path)
{
	static const char *const names[] = {"ctags-universal", "universal-ctags", "ctags"};
	rt_buf *out = rt_scope_buf(s);

	for (size_t i = 0; path != NULL && i < sizeof(names) / sizeof(names[0]); i++)
		if (rt_process_find(names[i], path, out) == RT_OK)
			return rt_scope_str(s, out).ptr;
	(void)rt_scope_note(s, out->status);
	return NULL;
}

rt_str
rt_ctags_run(rt_scope *s, const char *path, rt_str input, rt_buf *out)
{
	static char options[] = "--options=NONE", mode[] = "--_interactive=sandbox",
		    fields[] = "--fields=+neKSs", program_name[] = "ctags", locale[] = "LC_ALL=C";
	char *const argv[] = {program_name, options, mode, fields, NULL}, *const envp[] = {locale, NULL};
	rt_process_program program = {.path = find_ctags(s, path),
				      .fd = -1,
				      .argv = argv,
				      .envp = envp,
				      .folder = "/",
				      .out_max = CTAGS_OUT_MAX};
	rt_buf *err = rt_scope_buf(s);
	rt_process_result result;

	if (!rt_ok(s))
		return RT_STR("");
	if (program.path == NULL)
		return RT_STR("symbols and outlines need universal-ctags: install the package "
			      "universal-ctags");
	if (RT_TRY(s, rt_process_run(&program, input, CTAGS_MS, NULL, NULL, out, err, &result)) !=
	    RT_OK)
		return RT_STR("");
	if (result.outcome == RT_PROCESS_TIMED_OUT)
		return RT_STR("universal-ctags took too long: list fewer files");
	if (result.outcome != RT_PROCESS_EXITED || result.code != 0)
		return RT_STR("universal-ctags failed: check that \"ctags\" is universal-ctags with the features \"interactive\" "
			      "and \"sandbox\"");
	return RT_STR("");
}
