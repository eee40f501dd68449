/* SPDX-License-Identifier: MIT
 *
 * doctor: problems of this machine, each with a remedy. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/embedding.h"

typedef enum verdict { FINE, REMARK, TROUBLE } verdict;

typedef struct checkup {
	rt_cli *cli;
	rt_buf *json;
	size_t troubles;
} checkup;

static void say(checkup *c, verdict how, const char *what, const char *format, ...) RT_PRINTF(4, 5);

static void
say(checkup *c, verdict how, const char *what, const char *format, ...)
{
	static const char *const words[] = {"ok", "note", "trouble"};
	static const rt_style styles[] = {RT_STYLE_GREEN, RT_STYLE_YELLOW, RT_STYLE_RED};
	rt_term *out = &c->cli->out;
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	c->troubles += how == TROUBLE;
	rt_json_open(c->json, NULL, '{');
	rt_json_put_c(c->json, "check", what);
	rt_json_put_c(c->json, "result", words[how]);
	rt_cli_put_bytes(c->cli, c->json, "text", rt_str_of(text));
	rt_json_close(c->json, '}');
	if (c->cli->json)
		return;
	rt_term_style(out, styles[how]);
	rt_term_f(out, "%-8s", words[how]);
	rt_term_style(out, RT_STYLE_NONE);
	rt_term_f(out, "%-10s", what);
	rt_term_line(out, rt_str_of(text));
	rt_term_c(out, "\n");
}

static void
check_folder(checkup *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct statvfs space;
	char folder[4096];

	snprintf(folder, sizeof(folder), "%.*s",
		 slash == NULL ? 1 : (int)(slash - path) + (slash == path),
		 slash == NULL ? "." : path);
	if (access(folder, F_OK) != 0)
		say(c, FINE, "directory", "%s does not exist yet; it is created with the store", folder);
	else if (access(folder, W_OK) != 0)
		say(c, TROUBLE, "directory", "cannot write %s: %s", folder, strerror(errno));
	else if (statvfs(folder, &space) == 0) {
		unsigned long long free_mib = (unsigned long long)space.f_bavail * space.f_frsize >>
					      20;

		say(c, free_mib < 100 ? TROUBLE : FINE, "space", "%llu MiB free in %s", free_mib,
		    folder);
	}
}

/* file: the store's, or NULL. */
static void
check_store(checkup *c, const char *file)
{
	rt_cli *cli = c->cli;
	struct stat info;
	rt_error error;
	size_t discs;

	if (file != NULL && stat(file, &info) != 0) {
		say(c, errno == ENOENT ? FINE : TROUBLE, "store",
		    errno == ENOENT ? "%s does not exist yet; the first change creates it"
				    : "cannot read %s",
		    file);
		return;
	}
	if (file != NULL && (info.st_mode & 077) != 0)
		say(c, REMARK, "private", "other users can read %s; to make it private: chmod 600 "
					  "%s",
		    file, file);
	if (!rt_cli_open(cli, RT_SESSION_LOOK)) {
		rt_cli_recover(cli, &error);
		say(c, TROUBLE, "store", "%s", error.text);
		return;
	}
	discs = rt_project_disc_count(cli->session.value);
	if (file != NULL)
		say(c, FINE, "store", "%s, %lld KiB, step %llu, %zu discussion%s in all", file,
		    (long long)(info.st_size / 1024), (unsigned long long)cli->session.value->seq,
		    discs, RT_CLI_S(discs));
	else
		say(c, FINE, "store", "%s, step %llu, %zu discussion%s in all",
		    cli->session.store->place, (unsigned long long)cli->session.value->seq, discs,
		    RT_CLI_S(discs));
}

/* Nothing is sent. */
static void
check_embeddings(checkup *c)
{
	rt_cli *cli = c->cli;
	const rt_config *config = cli->session.engine != NULL ? rt_cli_config(cli) : NULL;
	rt_embed_state state = {0};
	rt_error error;

	if (config != NULL && config->embedding_model.size > 0)
		RT_TRY(&cli->s, rt_embed_state_read(config->embedding_model, cli->session.engine, &state, &cli->s.error));
	if (rt_cli_recover(cli, &error) != RT_OK)
		say(c, TROUBLE, "embeddings", "%s", error.text);
	else if (config != NULL && config->embedding_model.size > 0)
		say(c, FINE, "embeddings", "%.*s: %llu of %llu texts embedded; all texts are sent to this model",
		    RT_STR_ARG(config->embedding_model), (unsigned long long)state.done, (unsigned long long)state.all);
}

static void
check_surroundings(checkup *c)
{
	const char *editor = rt_host_editor(), *pager = getenv("PAGER");

	if (editor == NULL || !rt_host_has_program(editor))
		say(c, REMARK, "editor", "there is no %s; set VISUAL or EDITOR",
		    editor == NULL ? "editor" : editor);
	else
		say(c, FINE, "editor", "%s", editor);
	if (pager == NULL)
		pager = "less";
	if (*pager != 0 && !rt_host_has_program(pager))
		say(c, REMARK, "pager", "there is no %s; long output is not paged", pager);
	else
		say(c, FINE, "pager", "%s", *pager == 0 ? "none" : pager);
	if (!rt_host_is_utf8())
		say(c, REMARK, "locale", "not UTF-8 (LANG); using ASCII");
	else
		say(c, FINE, "locale", "UTF-8");
	say(c, FINE, "colour", "%s", c->cli->out.color ? "on" : "off");
}

static void
run_doctor(rt_cli *cli)
{
	checkup c = {.cli = cli, .json = rt_scope_buf(&cli->s)};
	rt_error error;

	rt_json_open(c.json, NULL, '[');
	say(&c, FINE, "version", "retake %s", RT_VERSION);
	if (rt_cli_find_store(cli)) {
		const char *file = rt_session_file(&cli->session);

		if (file != NULL)
			check_folder(&c, file);
		check_store(&c, file);
		check_embeddings(&c);
	} else {
		rt_cli_recover(cli, &error);
		say(&c, TROUBLE, "store", "%s", error.text);
	}
	check_surroundings(&c);
	rt_json_close(c.json, ']');
	if (cli->json)
		rt_cli_print_json(cli, c.json);
	else
		rt_cli_advise(cli, "%s",
			      c.troubles == 0 ? "\nNo problems found. To check the store itself: "
						"retake fsck\n"
					      : "\nFix the items marked \"trouble\" first.\n");
	if (c.troubles > 0)
		cli->exit_code = 1;
}

const rt_command rt_cli_doctor = {
	.name = "doctor",
	.group = RT_COMMANDS_MAINTENANCE,
	.usage = "",
	.summary = "check this machine for problems",
	.examples = "retake doctor",
	.run = run_doctor,
};
