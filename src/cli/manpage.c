/* SPDX-License-Identifier: MIT
 *
 * The man page, made from the tables. share/man/retake.1 is its output; a test compares them. */
#include "cli/help.h"
#include "formats/formats.h"

/* Text escaped for troff: no line of it is a request, and minus signs are minus signs. */
static void
add_text_size(rt_buf *out, const char *text, size_t size)
{
	static const struct {
		const char *from, *to;
	} escapes[] = {{"\\", "\\e"},   {"-", "\\-"},    {"'", "\\(aq"},
		       {"~", "\\(ti"}, {"^", "\\(ha"}, {"\xE2\x80\xA6", "\\[u2026]"}};
	rt_str rest = rt_str_at(text, size);
	bool first = out->size == 0 || out->ptr[out->size - 1] == '\n';

	while (rest.size > 0) {
		const char *to = NULL;
		size_t taken = 1;

		if (first && (rest.ptr[0] == '.' || rest.ptr[0] == '\''))
			rt_buf_add_c(out, "\\&");
		first = rest.ptr[0] == '\n';
		for (size_t i = 0; to == NULL && i < sizeof(escapes) / sizeof(escapes[0]); i++)
			if (rt_str_starts(rest, rt_str_of(escapes[i].from))) {
				to = escapes[i].to;
				taken = strlen(escapes[i].from);
			}
		if (to != NULL)
			rt_buf_add_c(out, to);
		else
			rt_buf_add_byte(out, rest.ptr[0]);
		rest = rt_str_skip(rest, taken);
	}
}

static void
add_text(rt_buf *out, const char *text)
{
	add_text_size(out, text, strlen(text));
}

static void
add_line(rt_buf *out, const char *text)
{
	add_text(out, text);
	rt_buf_add_byte(out, '\n');
}

static void
add_paragraphs(rt_buf *out, const char *text)
{
	while (*text != 0) {
		size_t size = strcspn(text, "\n");

		if (size == 0)
			rt_buf_add_c(out, ".PP");
		else
			add_text_size(out, text, size);
		rt_buf_add_byte(out, '\n');
		text += size + (text[size] == '\n');
	}
}

/* A heading in capital letters. */
static void
add_heading(rt_buf *out, const char *text)
{
	rt_buf_add_c(out, ".SH \"");
	for (; *text != 0; text++)
		rt_buf_add_byte(out, *text >= 'a' && *text <= 'z' ? (char)(*text - 'a' + 'A')
								  : *text);
	rt_buf_add_c(out, "\"\n");
}

static void
add_term(rt_buf *out, const char *term, const char *text)
{
	rt_buf_add_c(out, ".TP\n.B ");
	add_line(out, term);
	add_line(out, text);
}

static void
add_flags(rt_buf *out, const rt_flag *flags)
{
	for (; flags != NULL && flags->name != NULL; flags++) {
		if (flags->about == NULL)
			continue;
		rt_buf_add_c(out, ".TP\n");
		if (flags->letter != 0)
			rt_buf_add_f(out, "\\fB\\-%c\\fR, ", flags->letter);
		rt_buf_add_c(out, "\\fB\\-\\-");
		add_text(out, flags->name);
		rt_buf_add_c(out, "\\fR");
		if (flags->value != NULL)
			rt_buf_add_f(out, " \\fI%s\\fR", flags->value);
		rt_buf_add_byte(out, '\n');
		add_line(out, flags->about);
	}
}

static void
add_usage(rt_buf *out, const rt_command *command)
{
	const char *usage = command->usage;

	rt_buf_add_c(out, ".nf\n");
	for (;;) {
		size_t size = strcspn(usage, "\n");

		rt_buf_add_f(out, "\\fBretake %s\\fR ", command->name);
		add_text_size(out, usage, size);
		rt_buf_add_byte(out, '\n');
		if (usage[size] == 0)
			break;
		usage += size + 1;
	}
	rt_buf_add_c(out, ".fi\n");
}

static void
add_command(rt_buf *out, const rt_command *command)
{
	rt_buf_add_f(out, ".SS %s\n", command->name);
	add_usage(out, command);
	rt_buf_add_c(out, ".PP\n");
	/* A summary is not a complete sentence. */
	if (command->summary[0] >= 'a' && command->summary[0] <= 'z')
		rt_buf_add_byte(out, (char)(command->summary[0] - 'a' + 'A'));
	add_text(out, command->summary + 1);
	rt_buf_add_c(out, ".\n");
	if (command->about != NULL)
		add_paragraphs(out, command->about);
	if (command->alias != NULL)
		rt_buf_add_f(out, "Short: \\fB%s\\fR.\n", command->alias);
	add_flags(out, command->flags);
	if (command->examples != NULL) {
		rt_buf_add_c(out, ".PP\nFor example:\n.PP\n.nf\n.RS\n");
		add_line(out, command->examples);
		rt_buf_add_c(out, ".RE\n.fi\n");
	}
}

static void
add_commands(const rt_command *const *commands, rt_buf *out)
{
	for (int group = 0; group < RT_COMMAND_GROUP_COUNT; group++) {
		add_heading(out, rt_command_group_names[group]);
		for (size_t i = 0; commands[i] != NULL; i++)
			if ((int)commands[i]->group == group &&
			    !(commands[i]->traits & RT_COMMAND_HIDDEN))
				add_command(out, commands[i]);
	}
}

static void
add_topic(rt_buf *out, const rt_cli_topic *topic)
{
	add_heading(out, topic->title);
	if (topic->intro != NULL)
		add_line(out, topic->intro);
	for (const rt_cli_topic_row *row = topic->rows; row->term != NULL; row++)
		add_term(out, row->term, row->text);
	if (topic->outro != NULL) {
		rt_buf_add_c(out, ".PP\n");
		add_line(out, topic->outro);
	}
}

static void
add_formats(rt_buf *out)
{
	rt_buf_add_c(out, ".SH FORMATS\n");
	for (size_t i = 0; rt_formats[i] != NULL; i++) {
		rt_buf_add_f(out, ".TP\n.B %s\n", rt_formats[i]->name);
		add_text(out, rt_formats[i]->about);
		rt_buf_add_f(out, " (%s%s%s)\n", rt_formats[i]->read != NULL ? "import" : "",
			     rt_formats[i]->read != NULL && rt_formats[i]->write != NULL ? ", "
											 : "",
			     rt_formats[i]->write != NULL ? "export" : "");
	}
}

static void
add_operations(rt_buf *out)
{
	rt_buf_add_c(
		out,
		".SH OPERATIONS\n\\fBretake apply\\fR reads one JSON object per line, such as\n"
		".PP\n.nf\n.RS\n{\"op\":\"entry.append\",\"role\":\"User\",\"content\":\"hi\"}\n"
		".RE\n.fi\n.PP\nEvery operation also accepts \"discussion\" and \"take\". "
		"Required fields are bold.\n");
	for (size_t i = 0; i < RT_OP_COUNT; i++) {
		const rt_op_field *field = rt_ops[i].fields;

		rt_buf_add_f(out, ".TP\n\\fB%s\\fR {", rt_ops[i].name);
		for (; field->name != NULL; field++)
			rt_buf_add_f(out, "%s%s%s\\fR", field == rt_ops[i].fields ? "" : ", ",
				     (field->flags & RT_FIELD_REQUIRED) ? "\\fB" : "\\fI",
				     field->name);
		rt_buf_add_c(out, (rt_ops[i].flags & RT_OP_OPEN) != 0 ? ", \\[u2026]}\n" : "}\n");
		add_line(out, rt_ops[i].about);
	}
}

void
rt_cli_manpage(const rt_command *const *commands, rt_buf *out)
{
	rt_buf_add_c(out, ".\\\" SPDX-License-Identifier: MIT\n"
			  ".\\\" Made by: retake help --man\n"
			  ".TH RETAKE 1 \"\" \"retake " RT_VERSION "\" \"User commands\"\n"
			  ".SH NAME\nretake \\- ");
	add_line(out, rt_cli_tagline);
	rt_buf_add_c(
		out,
		".SH SYNOPSIS\n.B retake\n[\\fIflags\\fR] \\fIcommand\\fR \\[u2026]\n"
		".SH DESCRIPTION\n"
		"A discussion is a tree of entries with one or more takes: paths from the first "
		"entry to a tip. You can edit every entry, branch at any point and undo every "
		"change; requests to models are always built from the entries you see. The head is the entry after which the next one is "
		"added.\n.PP\n"
		"Each change is on disk before it is reported, and the report says how to undo "
		"it. Nothing is lost: earlier states remain in the history until they are "
		"purged.\n"
		".SH FLAGS\nThese can be given before or after any command.\n");
	add_flags(out, rt_global_flags);
	add_commands(commands, out);
	for (const rt_cli_topic *topic = rt_cli_topics; topic->name != NULL; topic++)
		add_topic(out, topic);
	rt_cli_manpage_events(out);
	add_formats(out);
	add_operations(out);
	rt_buf_add_c(out, ".SH FILES\n.TP\n.I \\(ti/.local/share/retake/retake.db\n"
			  "The default store, readable only by its owner.\n");
}
