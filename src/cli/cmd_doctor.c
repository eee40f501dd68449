/* SPDX-License-Identifier: MIT
 *
 * doctor: what could be in the way on this machine, each with what to do about it. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/cli.h"

typedef enum verdict { FINE, REMARK, TROUBLE } verdict;

typedef struct checkup {
	rt_cli *cli;
	rt_buf json;
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
	va_list ap;
	rt_buf repaired;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	c->troubles += how == TROUBLE;
	rt_buf_init(&repaired, c->cli->alloc, RT_BUF_UNLIMITED);
	rt_utf8_repair(&repaired, rt_str_of(text));
	rt_json_add_comma(&c->json);
	rt_buf_add_f(&c->json, "{\"check\":\"%s\",\"result\":\"%s\",\"text\":", what, words[how]);
	rt_json_add_string(&c->json, rt_buf_str(&repaired));
	rt_buf_add_byte(&c->json, '}');
	rt_buf_deinit(&repaired);
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
check_folder(checkup *c)
{
	const char *path = c->cli->session.path.ptr, *slash = strrchr(path, '/');
	struct statvfs space;
	char folder[4096];

	snprintf(folder, sizeof(folder), "%.*s",
		 slash == NULL ? 1 : (int)(slash - path) + (slash == path),
		 slash == NULL ? "." : path);
	if (access(folder, F_OK) != 0)
		say(c, FINE, "folder", "%s is not there yet; it is made with the store", folder);
	else if (access(folder, W_OK) != 0)
		say(c, TROUBLE, "folder", "%s cannot be written: %s", folder, strerror(errno));
	else if (statvfs(folder, &space) == 0) {
		unsigned long long free_mib = (unsigned long long)space.f_bavail * space.f_frsize >>
					      20;

		say(c, free_mib < 100 ? TROUBLE : FINE, "space", "%llu MiB free in %s", free_mib,
		    folder);
	}
}

static void
check_store(checkup *c)
{
	rt_cli *cli = c->cli;
	struct stat info;
	rt_status st;

	if (stat(cli->session.path.ptr, &info) != 0) {
		say(c, errno == ENOENT ? FINE : TROUBLE, "store",
		    errno == ENOENT ? "%s is not there yet; the first change makes it"
				    : "%s cannot be looked at",
		    cli->session.path.ptr);
		return;
	}
	if ((info.st_mode & 077) != 0)
		say(c, REMARK, "private", "others may read %s; to keep it private: chmod 600 %s",
		    cli->session.path.ptr, cli->session.path.ptr);
	st = rt_old_open(cli, RT_SESSION_LOOK);
	if (st != RT_OK) {
		say(c, TROUBLE, "store", "%s", cli->error.text);
		return;
	}
	say(c, FINE, "store", "%s, %lld KiB, step %llu, %zu discussion%s in all",
	    cli->session.path.ptr, (long long)(info.st_size / 1024),
	    (unsigned long long)cli->session.value->seq, rt_project_disc_count(cli->session.value),
	    RT_CLI_S(rt_project_disc_count(cli->session.value)));
}

static void
check_surroundings(checkup *c)
{
	const char *editor = rt_host_editor(), *pager = getenv("PAGER");

	if (editor == NULL || !rt_host_has_program(editor))
		say(c, REMARK, "editor", "there is none%s%s; set VISUAL or EDITOR",
		    editor == NULL ? "" : " called ", editor == NULL ? "" : editor);
	else
		say(c, FINE, "editor", "%s", editor);
	if (pager == NULL)
		pager = "less";
	if (*pager != 0 && !rt_host_has_program(pager))
		say(c, REMARK, "pager", "there is no %s; long output is not paged", pager);
	else
		say(c, FINE, "pager", "%s", *pager == 0 ? "none" : pager);
	if (!rt_host_is_utf8())
		say(c, REMARK, "locale", "not UTF-8 (LANG); lines are drawn with ASCII");
	else
		say(c, FINE, "locale", "UTF-8");
	say(c, FINE, "colour", "%s", c->cli->out.color ? "on" : "off");
}

static rt_status
run_doctor(rt_cli *cli)
{
	checkup c = {.cli = cli};
	rt_status st;

	rt_buf_init(&c.json, cli->alloc, RT_BUF_UNLIMITED);
	rt_buf_add_byte(&c.json, '[');
	say(&c, FINE, "version", "retake %s", RT_VERSION);
	st = rt_old_find_store(cli);
	if (st != RT_OK) {
		say(&c, TROUBLE, "store", "%s", cli->error.text);
	} else {
		check_folder(&c);
		check_store(&c);
	}
	check_surroundings(&c);
	cli->session.hint[0] = 0;
	rt_buf_add_byte(&c.json, ']');
	if (cli->json)
		(void)rt_old_print_json(cli, rt_buf_str(&c.json));
	else
		rt_cli_advise(cli, "%s",
			      c.troubles == 0 ? "\nNothing is in the way. To check the store itself: "
						"retake fsck\n"
					      : "\nSee to what is marked trouble first.\n");
	rt_buf_deinit(&c.json);
	if (c.troubles > 0)
		cli->exit_code = 1;
	return RT_OK;
}

const rt_command rt_cli_doctor = {
	.name = "doctor",
	.group = RT_COMMANDS_MAINTENANCE,
	.usage = "",
	.summary = "look for what could be in the way on this machine",
	.examples = "retake doctor",
	.run_status = run_doctor,
};
