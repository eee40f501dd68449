/* SPDX-License-Identifier: MIT */
#include "server/openapi.h"

#include <stdio.h>

#include "codec/json.h"

/* ---- shapes of answers ---- */

#define OBJECT(members) "{\"type\":\"object\",\"properties\":{" members "}}"
#define LIST(item) "{\"type\":\"array\",\"items\":" item "}"
#define TEXT "{\"type\":\"string\"}"
#define NUMBER "{\"type\":\"integer\"}"
#define FLAG "{\"type\":\"boolean\"}"
#define ANY "{}"
#define MAYBE_TEXT "{\"type\":[\"string\",\"null\"]}"
#define MAYBE_NUMBER "{\"type\":[\"integer\",\"null\"]}"
#define ENTRY \
	OBJECT("\"id\":" TEXT ",\"role\":" TEXT ",\"kind\":" TEXT \
	       ",\"content\":{\"type\":[\"string\",\"array\",\"null\"]},\"ts\":" TEXT \
	       ",\"muted\":" FLAG ",\"collapsed\":" FLAG ",\"read_mode\":" FLAG \
	       ",\"label\":" TEXT)
#define OP \
	OBJECT("\"seq\":" NUMBER ",\"op\":" TEXT ",\"by\":" TEXT \
	       ",\"undo\":" OBJECT("\"method\":" TEXT ",\"path\":" TEXT ",\"body\":" ANY))
#define RESULT \
	OBJECT("\"seq\":" NUMBER ",\"entry\":" TEXT ",\"take\":" TEXT ",\"discussion\":" TEXT \
	       ",\"steps\":" NUMBER ",\"editor\":" TEXT ",\"note\":" TEXT ",\"unchanged\":" FLAG \
	       ",\"op\":" OP ",\"notes\":" LIST(TEXT))

const rt_shape rt_shapes[] = {
	{"Result",
	 "`seq` (the step) and, where they apply, `entry`, `take`, `discussion`, `steps`, `editor`, "
	 "`note`, `unchanged`; `op` contains the operation, its author and the request that undoes it",
	 RESULT, NULL},
	{"Results",
	 "`results` (a result for each operation), `seq`, and `op` if they are one step; for "
	 "separate steps, `failed` is the number of operations that failed",
	 OBJECT("\"results\":" LIST(ANY) ",\"seq\":" NUMBER ",\"failed\":" NUMBER
					 ",\"unchanged\":" FLAG ",\"op\":" OP),
	 NULL},
	{"Any", "a document", ANY, NULL},
	{"Array", "an array", LIST(ANY), NULL},
	{"Object", "an object", "{\"type\":\"object\"}", NULL},
	{"Info",
	 "`version`, `api`, `project` (of this request), `default_project`, `seq`, `epoch`, "
	 "`limits`, `features`, `formats`, `providers`, `operations`; for an administrator `config_file`: the path of the configuration; with an embedding_model, `embedding`: `model`, "
	 "`done` and `all` texts, `problem` while its server fails",
	 OBJECT("\"version\":" TEXT ",\"api\":" TEXT ",\"project\":" TEXT
		",\"default_project\":" TEXT ",\"seq\":" NUMBER ",\"epoch\":" TEXT
		",\"limits\":{\"type\":\"object\"}"
		",\"features\":" LIST(TEXT) ",\"formats\":" LIST(ANY) ",\"providers\":" LIST(
			TEXT) ",\"operations\":" LIST(TEXT) ",\"config_file\":" TEXT ",\"embedding\":{\"type\":\"object\"}"),
	 NULL},
	{"Health", "`status` and `version`", OBJECT("\"status\":" TEXT ",\"version\":" TEXT), NULL},
	{"Server",
	 "`connections`, `streams`, `workers` now; `requests`, `late` (connections closed because of a timeout) since the server started; `projects_open`",
	 OBJECT("\"connections\":" NUMBER ",\"streams\":" NUMBER ",\"workers\":" NUMBER
		",\"requests\":" NUMBER ",\"late\":" NUMBER ",\"projects_open\":" NUMBER),
	 NULL},
	{"Code",
	 "`code`, `url` (to open in the browser), `seconds` (until it expires), `replaced` (too "
	 "many codes were unused, so the oldest became invalid), `store` (path of the store)",
	 OBJECT("\"code\":" TEXT ",\"url\":" TEXT ",\"seconds\":" NUMBER ",\"replaced\":" FLAG
		",\"store\":" TEXT),
	 NULL},
	{"Status", "`status`", OBJECT("\"status\":" TEXT), NULL},
	{"SignedOut", "`status`; for a user signed in by a proxy, `sign_out`: the page that shows where to "
		      "sign out",
	 OBJECT("\"status\":" TEXT ",\"sign_out\":" TEXT), NULL},
	{"Projects", "an array of `name`, `default`",
	 LIST(OBJECT("\"name\":" TEXT ",\"default\":" FLAG)), NULL},
	{"Project", "`project`: its name", OBJECT("\"project\":" TEXT), NULL},
	{"Account",
	 "`accounts` (whether the server has accounts), `kind` (machine, user, token, link), `user`, `discussion` (of a link to "
	 "one), `rights` (in the project of the request, and without a project), `quotas` (the limits that apply to this account)",
	 OBJECT("\"accounts\":" FLAG ",\"kind\":" TEXT ",\"user\":" TEXT ",\"discussion\":" TEXT ",\"rights\":" LIST(TEXT) ",\"quotas\":" LIST(ANY)),
	 NULL},
	{"Users", "an array of `id`, `name`, `admin`, `disabled`",
	 LIST(OBJECT("\"id\":" NUMBER ",\"name\":" TEXT ",\"admin\":" FLAG ",\"disabled\":" FLAG)), NULL},
	{"User", "`id`", OBJECT("\"id\":" NUMBER), NULL},
	{"UserRemoved", "the numbers of removed `memberships`, `tokens`, and `teams` that the user was in",
	 OBJECT("\"memberships\":" NUMBER ",\"teams\":" NUMBER ",\"tokens\":" NUMBER), NULL},
	{"Teams", "an array of `id`, `name`, `users`",
	 LIST(OBJECT("\"id\":" NUMBER ",\"name\":" TEXT ",\"users\":" LIST(TEXT))), NULL},
	{"Members", "an array of `user` or `team`, `project`, `role`",
	 LIST(OBJECT("\"user\":" TEXT ",\"team\":" TEXT ",\"project\":" TEXT ",\"role\":" TEXT)), NULL},
	{"Links", "an array of `id`, `project`, `discussion` (its number, if the link shows only one), `until`",
	 LIST(OBJECT("\"id\":" NUMBER ",\"project\":" TEXT ",\"discussion\":" NUMBER ",\"until\":" TEXT)), NULL},
	{"Link", "`id` and `link`: the secret, which is not shown again", OBJECT("\"id\":" NUMBER ",\"link\":" TEXT), NULL},
	{"Audit", "an array of `at`, `by`, `what`, `on`, `from`, and `request`: its id in the access log and in X-Request-Id",
	 LIST(OBJECT("\"at\":" TEXT ",\"by\":" TEXT ",\"what\":" TEXT ",\"on\":" TEXT ",\"from\":" TEXT ",\"request\":" TEXT)),
	 NULL},
	{"Quotas", "an array of `user`, `team`, `project` or `each_user`, `limits` and `use`: members `bytes`, `entries`, `projects`, `requests`, `tokens`",
	 LIST(OBJECT("\"user\":" TEXT ",\"team\":" TEXT ",\"project\":" TEXT ",\"each_user\":" FLAG
		     ",\"limits\":{\"type\":\"object\"},\"use\":{\"type\":\"object\"}")),
	 NULL},
	{"Identities", "an array of `identity`, as `retake user change --identity` sets it; empty: the user has none",
	 LIST(OBJECT("\"identity\":" TEXT)), NULL},
	{"Invitations", "an array of `id`, `name` (of the user), `roles` (`project=role`), `until`",
	 LIST(OBJECT("\"id\":" NUMBER ",\"name\":" TEXT ",\"roles\":" LIST(TEXT) ",\"until\":" TEXT)), NULL},
	{"Invitation", "`id`, `invite`: the secret, which is not shown again, and `path`: after the address of the server, the link",
	 OBJECT("\"id\":" NUMBER ",\"invite\":" TEXT ",\"path\":" TEXT), NULL},
	{"LinkOpened", "`id`, `project`, `discussion` (of a link to one)",
	 OBJECT("\"id\":" NUMBER ",\"project\":" TEXT ",\"discussion\":" TEXT), NULL},
	{"Tokens", "an array of `id`, `name`, `user`, `scope`, `projects` (those that it may open; empty: all), `until`, `used` (the day of the last request)",
	 LIST(OBJECT("\"id\":" NUMBER ",\"name\":" TEXT ",\"user\":" TEXT ",\"scope\":" TEXT
		     ",\"projects\":" LIST(TEXT) ",\"until\":" TEXT ",\"used\":" TEXT)),
	 NULL},
	{"Token", "`id` and `token`: the secret, which is not shown again", OBJECT("\"id\":" NUMBER ",\"token\":" TEXT), NULL},
	{"Discussions",
	 "an array of `id`, `name`, `active`, `entries`, `takes`, `updated`, and where they apply `track`, "
	 "`title` (to show instead of a generated name), `pinned`, `archived`, `tags`",
	 LIST(OBJECT("\"id\":" TEXT ",\"name\":" TEXT ",\"active\":" FLAG ",\"entries\":" NUMBER
		     ",\"takes\":" NUMBER ",\"updated\":" MAYBE_TEXT ",\"track\":" TEXT
		     ",\"title\":" TEXT ",\"pinned\":" FLAG ",\"archived\":" FLAG
		     ",\"tags\":" LIST(TEXT) ",\"present\":" FLAG)),
	 NULL},
	{"Tracks",
	 "an array of `name`, `active` (whether the active discussion is bound to it), `discussions`, "
	 "`entries` (of their active takes), `updated`",
	 LIST(OBJECT("\"name\":" TEXT ",\"active\":" FLAG ",\"discussions\":" NUMBER
		     ",\"entries\":" NUMBER ",\"updated\":" MAYBE_TEXT)),
	 NULL},
	{"Discussion",
	 "`id`, `name`, `active`, `present`, `take` (the active one: `id`, `name`), `head` "
	 "(null: before the first entry), `entries`, `takes`, `labels`, `can_undo` and "
	 "`can_redo` (in this discussion or the project), `seq`",
	 OBJECT("\"id\":" TEXT ",\"name\":" TEXT ",\"active\":" FLAG ",\"present\":" FLAG
		",\"take\":" OBJECT("\"id\":" TEXT
				    ",\"name\":" TEXT) ",\"head\":" MAYBE_TEXT
						       ",\"entries\":" NUMBER ",\"takes\":" NUMBER
						       ",\"labels\":" NUMBER ",\"can_undo\":" FLAG
						       ",\"can_redo\":" FLAG ",\"seq\":" NUMBER),
	 NULL},
	{"Tree",
	 "rows: an array of `node`, `parent_node`, `id`, `parent`, `role`, `label`, `active`, "
	 "`takes` …, the same as `retake tree --json`. Columns: `seq`, `discussion`, `count`, "
	 "`roles`, `kinds`, `takes`, and for each row `id`, `parent` (its row, -1 for a root), "
	 "`role`, `kind` (indexes into the lists), `flags` (1 muted, 2 collapsed, 4 read mode, 8 "
	 "not only text, 16 differs between takes, 32 edited, 64 hidden), `size`, `preview`; and "
	 "`labels`, `head`, `tips`",
	 "{\"oneOf\":[{\"type\":\"array\"},{\"type\":\"object\"}]}", NULL},
	{"Window",
	 "`discussion`, `take`, `head`, `count` (all entries of the take), `entries`, `from`, "
	 "`next` (`from` of the next range; null at the end), `seq`; with `tags`, `etags` by id",
	 OBJECT("\"discussion\":" TEXT ",\"take\":" TEXT ",\"head\":" MAYBE_TEXT
		",\"count\":" NUMBER
		",\"entries\":" LIST(ENTRY) ",\"from\":" NUMBER ",\"next\":" MAYBE_NUMBER
					    ",\"seq\":" NUMBER ",\"etags\":{\"type\":\"object\"}"),
	 NULL},
	{"EntriesRead",
	 "`entries` in the order of the ids, `missing` (ids without an entry), `seq`",
	 OBJECT("\"entries\":" LIST(ENTRY) ",\"missing\":" LIST(TEXT) ",\"seq\":" NUMBER), NULL},
	{"Entry",
	 "`id`, `role`, `kind`, `content`, `blocks` (if requested: the blocks of a text; for an "
	 "array, the blocks of each item or null), `ts`, `muted`, `collapsed`, `read_mode`, "
	 "`label`, `edited` (true if the content was changed; otherwise absent), and any other "
	 "fields of the entry",
	 ENTRY, NULL},
	{"Render",
	 "`blocks`: for each text an array of blocks (see src/markup/markup.h). A block has `t` "
	 "(p, h, pre, quote, ul, ol, table, hr), `at` (its byte range in the text) and the "
	 "members of its type. Never HTML; each `href` begins with http://, https://, mailto: or "
	 "#. `stable`: for each text that is still growing, the number of bytes whose blocks are "
	 "final; only the rest has to be sent again when text is appended",
	 OBJECT("\"blocks\":" LIST(LIST("{\"type\":\"object\"}")) ",\"stable\":" LIST(NUMBER)),
	 NULL},
	{"Takes",
	 "an array of `id`, `name`, `active`, `entries`, `base`, and where they apply `git_commit`, "
	 "`last_updated`, `title` (the distinguishing words, for display instead of a generated name), `preview` (of the differing text) and `another_reply` (a take from which this one differs only "
	 "by having another reply)",
	 LIST(OBJECT("\"id\":" TEXT ",\"name\":" TEXT ",\"active\":" FLAG ",\"entries\":" NUMBER
		     ",\"base\":" TEXT ",\"git_commit\":" TEXT ",\"last_updated\":" TEXT
		     ",\"title\":" TEXT ",\"preview\":" TEXT ",\"another_reply\":" TEXT
		     ",\"present\":" FLAG)),
	 NULL},
	{"Forks",
	 "`seq`, `discussion`, `take`, `forks`: each `entry` is one of `count` siblings, with "
	 "its `place` from 0 and a take of the `previous` and `next` sibling, or null; `differ`: "
	 "entries that differ in other takes",
	 OBJECT("\"seq\":" NUMBER ",\"discussion\":" TEXT ",\"take\":" TEXT
		",\"forks\":" LIST(OBJECT("\"entry\":" TEXT ",\"place\":" NUMBER
					  ",\"count\":" NUMBER ",\"previous\":" MAYBE_TEXT
					  ",\"next\":" MAYBE_TEXT)) ",\"differ\":" LIST(TEXT)),
	 NULL},
	{"Diff",
	 "`common` (entries at the beginning of both), `a`, `b` (the rest of each), `changed`",
	 OBJECT("\"common\":" ANY
		",\"a\":" LIST(ANY) ",\"b\":" LIST(ANY) ",\"changed\":" LIST(ANY)),
	 NULL},
	{"Labels", "an array of `label`, `entry`",
	 LIST(OBJECT("\"label\":" TEXT ",\"entry\":" TEXT)), NULL},
	{"Prompt", "`text`, `edited`", OBJECT("\"text\":" TEXT ",\"edited\":" FLAG), NULL},
	{"Settings", "`discussion`, `roles`, `prompt`, `settings`, and further fields",
	 OBJECT("\"discussion\":" TEXT
		",\"roles\":" LIST(TEXT) ",\"prompt\":" ANY ",\"settings\":{\"type\":\"object\"}"),
	 NULL},
	{"Files", "`files`, `context_files`, `screenshots`",
	 OBJECT("\"files\":" LIST(ANY) ",\"context_files\":" LIST(ANY) ",\"screenshots\":" LIST(
		 ANY)),
	 NULL},
	{"FileNames", "`names` (the best matches first), `complete` (there are no more)",
	 OBJECT("\"names\":" LIST(TEXT) ",\"complete\":" FLAG), NULL},
	{"Steps",
	 "`steps` (each `seq`, `parent`, `op`, `what`, `by`, `at`, `scope`, `current`, "
	 "`undone`), `next` (`before` of the next page; null at the end), `seq`",
	 OBJECT("\"steps\":" LIST(ANY) ",\"next\":" MAYBE_NUMBER ",\"seq\":" NUMBER), NULL},
	{"Rows",
	 "`rows` of the log (as in events), `next` (`before` of the next page; null at "
	 "the end), `seq`",
	 OBJECT("\"rows\":" LIST(ANY) ",\"next\":" MAYBE_NUMBER ",\"seq\":" NUMBER), NULL},
	{"Step", "one step with its effects, each with the values before and after",
	 "{\"type\":\"object\"}", NULL},
	{"Hits",
	 "an array of `discussion`, `take`, `id`, `role`, `at`, `ts`, `snippet`, `marks` ([start, "
	 "size] of each match, in characters); by meaning, `similarity` (up to 1)",
	 LIST("{\"type\":\"object\"}"), NULL},
	{"Advice",
	 "`advice` (each `id`, `entry`, `other`, `text`, `repair`: the operation that fixes it), "
	 "`resent_tokens` (estimated tokens that a provider may have cached and that are sent "
	 "again)",
	 OBJECT("\"advice\":" LIST(ANY) ",\"resent_tokens\":" NUMBER), NULL},
	{"Context",
	 "`provider`, `service` (its name in the configuration), `model`, `tokens`, `exact` "
	 "(false: an estimate), `left_out`, `budget`, `entries` (each `id`, `at`, `tokens`, "
	 "`left_out`), `files` (to be sent: each `list`, `item`, `name`, `size`, `mime` of an "
	 "image, `language`, `lines`, `view`, `tokens`), `file_tokens` (of all files), "
	 "`file_problems` (files that cannot be sent, so a question fails: each `list`, `item`, "
	 "`path`, `kind`, `message`), `unsent` (a sentence for each type of block that the "
	 "request cannot contain), `body` (the request)",
	 OBJECT("\"provider\":" TEXT ",\"service\":" TEXT ",\"model\":" MAYBE_TEXT
		",\"tokens\":" NUMBER ",\"exact\":" FLAG ",\"left_out\":" NUMBER
		",\"budget\":" NUMBER ",\"entries\":" LIST(ANY) ",\"files\":" LIST(
			ANY) ",\"file_tokens\":" NUMBER
			     ",\"file_problems\":" LIST(ANY) ",\"unsent\":" LIST(
				     TEXT) ",\"body\":{\"type\":\"object\"}"),
	 NULL},
	{"Sent",
	 "`at`, `seq` (the last step before the request), `take`, `provider`, `service`, "
	 "`model`, `upto` (the last entry), `left_out`, `budget_tokens`, `exact` (rebuilt byte "
	 "for byte; false: a hook changed it, a text was purged, or another version sent it), "
	 "`body` (the request as sent); compared with the current take: `same` (the next request "
	 "has the same bytes), `entries` (each `change`: new, edited or gone, `id`, `role`), "
	 "`moved` (the order of entries differs), `settings` (that differ), `prompt` (the "
	 "working prompt differs), `files` (that differ: each `change`, `name`). 404: there is "
	 "no request yet",
	 OBJECT("\"at\":" TEXT ",\"seq\":" NUMBER ",\"take\":" TEXT ",\"provider\":" TEXT
		",\"service\":" TEXT ",\"model\":" TEXT ",\"upto\":" TEXT ",\"left_out\":" NUMBER
		",\"budget_tokens\":" NUMBER ",\"exact\":" FLAG ",\"same\":" FLAG
		",\"entries\":" LIST(ANY) ",\"moved\":" FLAG ",\"settings\":" LIST(
			TEXT) ",\"prompt\":" FLAG
			      ",\"files\":" LIST(ANY) ",\"body\":{\"type\":\"object\"}"),
	 NULL},
	{"Run",
	 "`run`, `state` (running, done, stopped, failed), `how`, `discussion`, `take`, `model`, "
	 "`question`, `text`, `thinking`, `group` (the first run of several models); after its end also `entry`, `seq`, `usage`, `stop`, `partial`, `problem`",
	 OBJECT("\"run\":" TEXT ",\"state\":" TEXT ",\"how\":" TEXT ",\"discussion\":" TEXT
		",\"take\":" TEXT ",\"model\":" TEXT ",\"group\":" TEXT
		",\"runs\":" LIST(ANY) ",\"question\":" TEXT ",\"text\":" TEXT ",\"thinking\":" TEXT
				       ",\"entry\":" TEXT ",\"seq\":" NUMBER),
	 NULL},
	{"Usage",
	 "`usage` and `project_usage`, each `replies`, `input_tokens`, `output_tokens`, `cost` (if a "
	 "price is known), `without_price` (replies without one)",
	 OBJECT("\"usage\":{\"type\":\"object\"},\"project_usage\":{\"type\":\"object\"}"), NULL},
	{"Stats",
	 "`by`, `entries`, `usage` (as in Usage), and `rows`, each with the member that `by` names (or "
	 "null), `entries` and `usage`; the document of `retake stats --json`",
	 OBJECT("\"by\":" TEXT ",\"entries\":" NUMBER
		",\"usage\":{\"type\":\"object\"},\"rows\":" LIST("{\"type\":\"object\"}")),
	 NULL},
	{"Attachment",
	 "`block`: a content block with `type` (image, file), `mimeType`, `name`, `size`, `sha256`",
	 OBJECT("\"block\":" ANY), NULL},
	{"Events", "server-sent events", TEXT, "text/event-stream"},
	{"File", "the file", TEXT, "application/octet-stream"},
	{"Import",
	 "`format`, `discussions`, `entries`, `hidden` (entries among them), `takes` (added), `known` (already in the project), "
	 "`settings` (of the project, changed), `repaired`, "
	 "`skipped`, `noted`, `empty` (conversations without entries, left out), `remarks`, `dry_run`, `discussion`, `name` (of the first discussion, in the file), `seq`",
	 OBJECT("\"format\":" TEXT ",\"name\":" TEXT ",\"discussions\":" NUMBER
		",\"entries\":" NUMBER ",\"hidden\":" NUMBER ",\"takes\":" NUMBER ",\"known\":" NUMBER
		",\"settings\":" NUMBER ",\"repaired\":" NUMBER ",\"skipped\":" NUMBER
		",\"noted\":" NUMBER ",\"empty\":" NUMBER ",\"remarks\":" LIST(
			ANY) ",\"dry_run\":" FLAG ",\"discussion\":" TEXT ",\"seq\":" NUMBER),
	 NULL},
	{"Problem", "`type`, `title`, `status`, `code`, `detail`, `hint`",
	 OBJECT("\"type\":" TEXT ",\"title\":" TEXT ",\"status\":" NUMBER ",\"code\":" TEXT
		",\"detail\":" TEXT ",\"hint\":" TEXT ",\"at\":" NUMBER ",\"line\":" NUMBER
		",\"index\":" NUMBER ",\"run\":" TEXT),
	 "application/problem+json"},
	{NULL, NULL, NULL, NULL},
};

const rt_shape *
rt_shape_named(const char *name)
{
	const rt_shape *shape;

	for (shape = rt_shapes; shape->name != NULL; shape++)
		if (strcmp(shape->name, name) == 0)
			return shape;
	return NULL;
}

/* ---- shared by the documents ---- */

/* The chapters, each with the prefixes of its routes' names. */
static const struct {
	const char *words; /* with a blank before and after each */
	const char *title;
} nouns[] = {
	{" info health openapi model server code logout ", "The server"},
	{" account user team member token link invite quota audit ", "Accounts"},
	{" project ", "Projects"},
	{" discussion ", "Discussions"},
	{" entry head ", "Entries"},
	{" take ", "Takes"},
	{" label ", "Labels"},
	{" prompt setting role files track preset ", "Prompt, settings, files"},
	{" history undo redo jump revert undo_anywhere redo_anywhere jump_anywhere purge ",
	 "History"},
	{" op batch advice ", "Any operation"},
	{" search stats context render ", "Search and requests"},
	{" run ", "Runs"},
	{" events ", "Events"},
	{" attachment export import ", "Import, export and attachments"},
	{NULL, NULL},
};

const char *
rt_openapi_noun(size_t at)
{
	return at < sizeof(nouns) / sizeof(nouns[0]) ? nouns[at].title : NULL;
}

const char *
rt_openapi_noun_of(const rt_route *route)
{
	char word[48];

	(void)snprintf(word, sizeof(word), " %.*s ", (int)strcspn(route->name, "."), route->name);
	for (size_t i = 0; nouns[i].words != NULL; i++)
		if (strstr(nouns[i].words, word) != NULL)
			return nouns[i].title;
	return NULL;
}

bool
rt_openapi_in_path(const rt_route *route, const char *name)
{
	for (size_t i = 0; i < RT_ROUTE_PARAMS; i++)
		if (rt_str_is(rt_route_param_name(route->path, i), name))
			return true;
	return false;
}

const rt_op_field *
rt_openapi_next_field(const rt_route *route, const rt_op_field *field)
{
	while (field != NULL && field->name != NULL && route != NULL &&
	       rt_openapi_in_path(route, field->name))
		field++;
	return field != NULL && field->name != NULL ? field : NULL;
}

/* ---- writing ---- */

static const char *
schema_of_field(const rt_op_field *field)
{
	bool nullable = (field->flags & RT_FIELD_NULLABLE) != 0;

	switch (field->type) {
	case RT_FIELD_CONTENT: return "\"type\":[\"string\",\"array\"]";
	case RT_FIELD_NUMBER: return "\"type\":\"integer\",\"minimum\":0";
	case RT_FIELD_BOOL: return "\"type\":\"boolean\"";
	case RT_FIELD_ARRAY: return "\"type\":\"array\"";
	case RT_FIELD_MOMENT: return "\"type\":[\"string\",\"number\"]";
	case RT_FIELD_ANY: return "";
	case RT_FIELD_STRING:
	case RT_FIELD_ADDRESS: break;
	}
	return nullable ? "\"type\":[\"string\",\"null\"]" : "\"type\":\"string\"";
}

static void
add_param_schema(rt_buf *buf, const rt_route_param *param)
{
	if (strcmp(param->type, "content") == 0)
		rt_buf_add_c(buf, "\"type\":[\"string\",\"array\"]");
	else
		rt_json_put_c(buf, "type", param->type);
}

/* The fields of an operation that the path (of route, or NULL) does not have, and further ones. */
static void
put_body_schema(rt_buf *buf, const char *key, const rt_op *op, const rt_route *route)
{
	const rt_op_field *first = op != NULL ? op->fields : NULL, *field = first;
	bool has_required = false;

	rt_json_open(buf, key, '{');
	rt_json_put_c(buf, "type", "object");
	rt_json_open(buf, "properties", '{');
	for (; (field = rt_openapi_next_field(route, field)) != NULL; field++) {
		rt_json_open(buf, field->name, '{');
		rt_buf_add_c(buf, schema_of_field(field));
		rt_json_put_c(buf, "description", field->about);
		rt_json_close(buf, '}');
	}
	for (const rt_route_param *more = route != NULL ? route->body : NULL;
	     more != NULL && more->name != NULL; more++) {
		rt_json_open(buf, more->name, '{');
		add_param_schema(buf, more);
		rt_json_put_c(buf, "description", more->about);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, '}');
	for (field = first; (field = rt_openapi_next_field(route, field)) != NULL; field++) {
		if ((field->flags & RT_FIELD_REQUIRED) == 0)
			continue;
		if (!has_required)
			rt_json_open(buf, "required", '[');
		has_required = true;
		rt_json_put_c(buf, NULL, field->name);
	}
	if (has_required)
		rt_json_close(buf, ']');
	rt_json_close(buf, '}');
}

static void
put_path_param(rt_buf *buf, const rt_op *op, rt_str name)
{
	static const char *const takes[] = {"take", "a", "b", NULL};
	const rt_op_field *field = op != NULL ? rt_op_field_named(op, name) : NULL;
	bool is_number = field != NULL && field->type == RT_FIELD_NUMBER;
	rt_str about = field != NULL		       ? rt_str_of(field->about)
		       : rt_str_is(name, "discussion") ? RT_STR("name or id of the discussion")
		       : rt_str_is_one_of(name, takes) ? RT_STR("name or id of the take")
		       : rt_str_is(name, "entry")
			       ? RT_STR("id of the entry, a unique prefix of the id, a label, @ "
					"(the head) or :7 (the seventh)")
			       : name;

	rt_json_open(buf, NULL, '{');
	rt_json_put_str(buf, "name", name);
	rt_json_put_c(buf, "in", "path");
	rt_json_put_bool(buf, "required", true);
	rt_json_open(buf, "schema", '{');
	rt_json_put_c(buf, "type", is_number ? "integer" : "string");
	rt_json_close(buf, '}');
	rt_json_put_str(buf, "description", about);
	rt_json_close(buf, '}');
}

static void
put_reference(rt_buf *buf, const char *key, const char *kind, const char *name)
{
	rt_json_open(buf, key, '{');
	rt_buf_add_f(buf, "\"$ref\":\"#/components/%s/%s\"", kind, name);
	rt_json_close(buf, '}');
}

static void
put_parameters(rt_buf *buf, const rt_route *route, const rt_op *op)
{
	bool has_project = (route->flags & RT_ROUTE_NO_PROJECT) == 0;

	rt_json_open(buf, "parameters", '[');
	for (size_t i = 0; i < RT_ROUTE_PARAMS; i++)
		if (rt_route_param_name(route->path, i).size > 0)
			put_path_param(buf, op, rt_route_param_name(route->path, i));
	for (const rt_route_param *param = route->query; param != NULL && param->name != NULL;
	     param++) {
		rt_json_open(buf, NULL, '{');
		rt_json_put_c(buf, "name", param->name);
		rt_json_put_c(buf, "in", "query");
		rt_json_open(buf, "schema", '{');
		add_param_schema(buf, param);
		rt_json_close(buf, '}');
		rt_json_put_c(buf, "description", param->about);
		rt_json_close(buf, '}');
	}
	if (has_project)
		put_reference(buf, NULL, "parameters", "Project");
	if (has_project && route->flags & RT_ROUTE_CHANGES) {
		put_reference(buf, NULL, "parameters", "IfMatch");
		put_reference(buf, NULL, "parameters", "IdempotencyKey");
		put_reference(buf, NULL, "parameters", "By");
	}
	rt_json_close(buf, ']');
}

static void
put_request_body(rt_buf *buf, const rt_route *route, const rt_op *op)
{
	const rt_op_field *fields = op != NULL ? op->fields : NULL;
	bool is_any_op = strcmp(route->name, "op") == 0;

	if (route->flags & RT_ROUTE_LARGE) {
		rt_json_put_raw(buf, "requestBody",
				RT_STR("{\"required\":true,\"content\":"
				       "{\"application/octet-stream\":{}}}"));
		return;
	}
	if (route->body == NULL && !is_any_op && rt_openapi_next_field(route, fields) == NULL)
		return;
	rt_json_open(buf, "requestBody", '{');
	rt_json_open(buf, "content", '{');
	rt_json_open(buf, "application/json", '{');
	put_body_schema(buf, "schema", op, route);
	rt_json_close(buf, '}');
	rt_json_close(buf, '}');
	rt_json_close(buf, '}');
}

static void
put_responses(rt_buf *buf, const rt_route *route)
{
	const rt_shape *shape = rt_shape_named(route->answer != NULL ? route->answer : "Result");

	RT_ASSERT(shape != NULL);
	rt_json_open(buf, "responses", '{');
	rt_json_open(buf, (route->flags & RT_ROUTE_CHANGES) != 0 ? "2XX" : "200", '{');
	rt_json_put_c(buf, "description", shape->about);
	rt_json_open(buf, "content", '{');
	rt_json_open(buf, shape->type != NULL ? shape->type : "application/json", '{');
	put_reference(buf, "schema", "schemas", shape->name);
	rt_json_close(buf, '}');
	rt_json_close(buf, '}');
	rt_json_close(buf, '}');
	put_reference(buf, "default", "responses", "Problem");
	rt_json_close(buf, '}');
}

static void
put_route(rt_buf *buf, const rt_route *route)
{
	const rt_op *op = route->op >= 0 ? &rt_ops[route->op] : NULL;
	char method[8] = "";

	for (size_t i = 0; rt_route_method(route->method)[i] != '\0'; i++)
		method[i] = (char)(rt_route_method(route->method)[i] | 0x20);
	rt_json_open(buf, method, '{');
	rt_json_put_c(buf, "operationId", route->name);
	rt_json_put_c(buf, "summary", route->about);
	rt_json_open(buf, "tags", '[');
	rt_json_put_c(buf, NULL, rt_openapi_noun_of(route));
	rt_json_close(buf, ']');
	put_parameters(buf, route, op);
	put_request_body(buf, route, op);
	put_responses(buf, route);
	rt_json_close(buf, '}');
}

/* The first route with the path of this one. */
static const rt_route *
first_of_path(const rt_route *routes, const rt_route *route)
{
	while (strcmp(routes->path, route->path) != 0)
		routes++;
	return routes;
}

static void
put_paths(const rt_route *routes, rt_buf *buf)
{
	rt_json_open(buf, "paths", '{');
	for (const rt_route *route = routes; route->path != NULL; route++) {
		if (route->flags & RT_ROUTE_ROOT || first_of_path(routes, route) != route)
			continue;
		rt_json_open(buf, route->path, '{');
		for (const rt_route *same = route; same->path != NULL; same++)
			if (strcmp(same->path, route->path) == 0)
				put_route(buf, same);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, '}');
}

static const struct {
	const char *id, *name, *about;
} headers[] = {
	{"Project", "Retake-Project",
	 "the project, also in the query as `project`; default: the one that the server was started with"},
	{"IfMatch", "If-Match",
	 "an ETag from an earlier response: the change is refused if it no longer matches"},
	{"IdempotencyKey", "Idempotency-Key",
	 "1 to 200 visible ASCII characters: a request is carried out once per key"},
	{"By", "Retake-By", "author of the change in the history: 1 to 64 of A-Z a-z 0-9 . _ -"},
};

static void
put_components(rt_buf *buf)
{
	rt_json_open(buf, "components", '{');
	rt_json_open(buf, "schemas", '{');
	for (const rt_shape *shape = rt_shapes; shape->name != NULL; shape++)
		rt_json_put_raw(buf, shape->name, rt_str_of(shape->schema));
	rt_hook_api_schema(buf, "HookState");
	for (size_t i = 0; i < RT_OP_COUNT; i++) {
		char key[64];

		(void)snprintf(key, sizeof(key), "op.%s", rt_ops[i].name);
		put_body_schema(buf, key, &rt_ops[i], NULL);
	}
	rt_json_close(buf, '}');
	rt_json_open(buf, "parameters", '{');
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		rt_json_open(buf, headers[i].id, '{');
		rt_json_put_c(buf, "in", "header");
		rt_json_put_raw(buf, "schema", RT_STR("{\"type\":\"string\"}"));
		rt_json_put_c(buf, "name", headers[i].name);
		rt_json_put_c(buf, "description", headers[i].about);
		rt_json_close(buf, '}');
	}
	rt_json_close(buf, '}');
	rt_json_put_raw(buf, "responses",
			RT_STR("{\"Problem\":{\"description\":\"what is wrong (RFC 9457)\","
			       "\"content\":{\"application/problem+json\":{\"schema\":"
			       "{\"$ref\":\"#/components/schemas/Problem\"}}}}}"));
	rt_json_put_raw(buf, "securitySchemes",
			RT_STR("{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}"));
	rt_json_close(buf, '}');
}

void
rt_openapi_write(const rt_route *routes, rt_buf *buf)
{
	rt_buf_add_c(
		buf,
		"{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Retake\",\"version\":\"" RT_VERSION
		"\",\"description\":\"Editable, undoable conversations with language "
		"models.\",\"license\":{\"name\":\"MIT\",\"identifier\":\"MIT\"}},"
		"\"servers\":[{\"url\":\"" RT_API_ROOT "\"}],\"security\":[{\"token\":[]}]");
	put_paths(routes, buf);
	put_components(buf);
	rt_json_close(buf, '}');
}
