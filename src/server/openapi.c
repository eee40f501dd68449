/* SPDX-License-Identifier: MIT */
#include "server/openapi.h"

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
	 "`seq` (the step), and what there is of `entry`, `take`, `discussion`, `steps`, `editor`, "
	 "`note`, `unchanged`; `op` says what was done by whom, and how to undo it",
	 RESULT, NULL},
	{"Results",
	 "`results` (a result for each operation), `seq`, and `op` where they are one step; of "
	 "operations that stand each for itself `failed` counts those that were not done",
	 OBJECT("\"results\":" LIST(ANY) ",\"seq\":" NUMBER ",\"failed\":" NUMBER
					 ",\"unchanged\":" FLAG ",\"op\":" OP),
	 NULL},
	{"Any", "a document", ANY, NULL},
	{"Array", "an array", LIST(ANY), NULL},
	{"Object", "an object", "{\"type\":\"object\"}", NULL},
	{"Info",
	 "`version`, `api`, `project` (the one that is asked about), `default_project`, `seq`, `epoch`, "
	 "`limits`, `features`, `formats`, `providers`, `operations`",
	 OBJECT("\"version\":" TEXT ",\"api\":" TEXT ",\"project\":" TEXT
		",\"default_project\":" TEXT ",\"seq\":" NUMBER ",\"epoch\":" TEXT
		",\"limits\":{\"type\":\"object\"}"
		",\"features\":" LIST(TEXT) ",\"formats\":" LIST(ANY) ",\"providers\":" LIST(
			TEXT) ",\"operations\":" LIST(TEXT)),
	 NULL},
	{"Health", "`status` and `version`", OBJECT("\"status\":" TEXT ",\"version\":" TEXT), NULL},
	{"Server",
	 "`connections`, `streams`, `workers` now; `requests`, `late` (connections that were let go "
	 "because they were too slow) since the start; `projects_open`",
	 OBJECT("\"connections\":" NUMBER ",\"streams\":" NUMBER ",\"workers\":" NUMBER
		",\"requests\":" NUMBER ",\"late\":" NUMBER ",\"projects_open\":" NUMBER),
	 NULL},
	{"Code",
	 "`code`, `url` (to be opened in the browser), `seconds` (how long it is good), `replaced` (too "
	 "many were waiting, and the oldest is good no longer), `store` (the path of the store)",
	 OBJECT("\"code\":" TEXT ",\"url\":" TEXT ",\"seconds\":" NUMBER ",\"replaced\":" FLAG
		",\"store\":" TEXT), NULL},
	{"Status", "`status`", OBJECT("\"status\":" TEXT), NULL},
	{"Projects", "an array of `name`, `default`",
	 LIST(OBJECT("\"name\":" TEXT ",\"default\":" FLAG)), NULL},
	{"Project", "`project`: its name", OBJECT("\"project\":" TEXT), NULL},
	{"Discussions", "an array of `id`, `name`, `active`, `entries`, `takes`, `updated`",
	 LIST(OBJECT("\"id\":" TEXT ",\"name\":" TEXT ",\"active\":" FLAG ",\"entries\":" NUMBER
		     ",\"takes\":" NUMBER ",\"updated\":" MAYBE_TEXT ",\"present\":" FLAG)),
	 NULL},
	{"Discussion",
	 "`id`, `name`, `active`, `present`, `take` (the active one: `id`, `name`), `head` (null: before "
	 "the first entry), `entries`, `takes`, `labels`, `can_undo` and `can_redo` (is there a step, "
	 "here or in the project), `seq`",
	 OBJECT("\"id\":" TEXT ",\"name\":" TEXT ",\"active\":" FLAG ",\"present\":" FLAG
		",\"take\":" OBJECT("\"id\":" TEXT
				    ",\"name\":" TEXT) ",\"head\":" MAYBE_TEXT
						       ",\"entries\":" NUMBER ",\"takes\":" NUMBER
						       ",\"labels\":" NUMBER ",\"can_undo\":" FLAG
						       ",\"can_redo\":" FLAG ",\"seq\":" NUMBER),
	 NULL},
	{"Tree",
	 "rows: an array of `node`, `parent_node`, `id`, `parent`, `role`, `label`, `active`, `takes` …, "
	 "as `retake tree --json`. Columns: `seq`, `discussion`, `count`, `roles`, `kinds`, `takes`, "
	 "and for each row `id`, `parent` (its row, -1 for a root), `role`, `kind` (places in the "
	 "lists), `flags` (1 muted, 2 collapsed, 4 read mode, 8 more than text, 16 differs between "
	 "takes, 32 edited, 64 hidden), `size`, `preview`; and `labels`, `head`, `tips`",
	 "{\"oneOf\":[{\"type\":\"array\"},{\"type\":\"object\"}]}", NULL},
	{"Window",
	 "`discussion`, `take`, `head`, `count` (all entries of the take), `entries`, `from`, `next` (the "
	 "next window's `from`; null: this is the end), `seq`; with `tags` `etags` by id",
	 OBJECT("\"discussion\":" TEXT ",\"take\":" TEXT ",\"head\":" MAYBE_TEXT
		",\"count\":" NUMBER
		",\"entries\":" LIST(ENTRY) ",\"from\":" NUMBER ",\"next\":" MAYBE_NUMBER
					    ",\"seq\":" NUMBER ",\"etags\":{\"type\":\"object\"}"),
	 NULL},
	{"EntriesRead",
	 "`entries` in the order of the ids, `missing` (ids that are not there), `seq`",
	 OBJECT("\"entries\":" LIST(ENTRY) ",\"missing\":" LIST(TEXT) ",\"seq\":" NUMBER), NULL},
	{"Entry",
	 "`id`, `role`, `kind`, `content`, `blocks` (where the query has it: of a text its blocks, of an "
	 "array for each of its blocks these or null), `ts`, `muted`, `collapsed`, `read_mode`, `label`, `edited` "
	 "(true: its content is not the one that it was written with; absent otherwise), and whatever "
	 "fields it has beside these",
	 ENTRY, NULL},
	{"Render",
	 "`blocks`: for each text an array of blocks, as src/markup/markup.h has them. A block has `t` (p, "
	 "h, pre, quote, ul, ol, table, hr), `at` (the bytes of the text that it came from) and what its "
	 "kind has. Never HTML; each `href` begins with http://, https://, mailto: or #. `stable`: for each "
	 "text that is still being written, so many of its bytes need not be sent again: the blocks up to "
	 "there stay as they are, whatever is appended, and the rest can be laid out alone",
	 OBJECT("\"blocks\":" LIST(LIST("{\"type\":\"object\"}")) ",\"stable\":" LIST(NUMBER)),
	 NULL},
	{"Takes", "an array of `id`, `name`, `active`, `entries`, `base`, `git_commit`",
	 LIST(OBJECT("\"id\":" TEXT ",\"name\":" TEXT ",\"active\":" FLAG ",\"entries\":" NUMBER
		     ",\"base\":" TEXT ",\"git_commit\":" TEXT ",\"present\":" FLAG)),
	 NULL},
	{"Forks",
	 "`seq`, `discussion`, `take`, `forks`: each `entry`, which is one of `count` that follow the "
	 "same one, its `place` among them from 0, and takes that hold the `previous` and the `next` of "
	 "them, or null; `differ`: entries that other takes show differently",
	 OBJECT("\"seq\":" NUMBER ",\"discussion\":" TEXT ",\"take\":" TEXT ",\"forks\":" LIST(
		 OBJECT("\"entry\":" TEXT ",\"place\":" NUMBER ",\"count\":" NUMBER
			",\"previous\":" MAYBE_TEXT ",\"next\":" MAYBE_TEXT)) ",\"differ\":" LIST(TEXT)),
	 NULL},
	{"Diff", "`common` (entries that both begin with), `a`, `b` (the rest of each), `changed`",
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
	{"Steps",
	 "`steps` (each `seq`, `parent`, `op`, `what`, `by`, `at`, `scope`, `current`, `undone`), `next` (as "
	 "`before` it gives the next page; null: this is the end), `seq`",
	 OBJECT("\"steps\":" LIST(ANY) ",\"next\":" MAYBE_NUMBER ",\"seq\":" NUMBER), NULL},
	{"Rows",
	 "`rows` of the log (as events have them), `next` (as `before` it gives the next page; null: this "
	 "is the end), `seq`",
	 OBJECT("\"rows\":" LIST(ANY) ",\"next\":" MAYBE_NUMBER ",\"seq\":" NUMBER), NULL},
	{"Step", "one step with its effects, each with what was there before and after",
	 "{\"type\":\"object\"}", NULL},
	{"Hits",
	 "an array of `discussion`, `take`, `id`, `role`, `at`, `snippet`, `marks` ([start, size] of what "
	 "matched, in characters)",
	 LIST("{\"type\":\"object\"}"), NULL},
	{"Advice",
	 "`advice` (each `id`, `entry`, `other`, `text`, `repair`: the operation that mends it), "
	 "`resent_tokens` (about what a provider may have cached and is sent anew)",
	 OBJECT("\"advice\":" LIST(ANY) ",\"resent_tokens\":" NUMBER), NULL},
	{"Context",
	 "`provider`, `service` (what the configuration calls the one that is asked), `model`, `tokens`, `exact` (false: an estimate), `left_out`, `budget`, `entries` "
	 "(each `id`, `at`, `tokens`, `left_out`), `unsent` (for each type of block in an entry that the "
	 "request cannot contain, a sentence that says so), `body` (the request itself)",
	 OBJECT("\"provider\":" TEXT ",\"service\":" TEXT ",\"model\":" MAYBE_TEXT ",\"tokens\":" NUMBER
		",\"exact\":" FLAG ",\"left_out\":" NUMBER ",\"budget\":" NUMBER
		",\"entries\":" LIST(ANY) ",\"unsent\":" LIST(TEXT) ",\"body\":{\"type\":\"object\"}"),
	 NULL},
	{"Sent",
	 "`at`, `seq` (the step that it was sent after), `take`, `provider`, `service`, `model`, `upto` (the "
	 "last entry), `left_out`, `budget_tokens`, `exact` (it was built again to the byte; false: a hook "
	 "changed it, a text was purged, or another version sent it), `body` (the request as it was sent); "
	 "of the take as it is now: `same` (the same bytes would be sent), `entries` (each `change`: new, "
	 "edited or gone, `id`, `role`), `moved` (entries stand in another order), `settings` (that "
	 "differ), `prompt` (the working prompt differs). 404: nothing was sent yet",
	 OBJECT("\"at\":" TEXT ",\"seq\":" NUMBER ",\"take\":" TEXT ",\"provider\":" TEXT
		",\"service\":" TEXT ",\"model\":" TEXT ",\"upto\":" TEXT ",\"left_out\":" NUMBER
		",\"budget_tokens\":" NUMBER ",\"exact\":" FLAG ",\"same\":" FLAG
		",\"entries\":" LIST(ANY) ",\"moved\":" FLAG ",\"settings\":" LIST(TEXT)
		",\"prompt\":" FLAG ",\"body\":{\"type\":\"object\"}"),
	 NULL},
	{"Run",
	 "`run`, `state` (running, done, stopped, failed), `how`, `discussion`, `take`, `model`, "
	 "`question`, `text`, `thinking`; at its end `entry`, `seq`, `usage`, `stop`, `partial`, `problem`",
	 OBJECT("\"run\":" TEXT ",\"state\":" TEXT ",\"how\":" TEXT ",\"discussion\":" TEXT
		",\"take\":" TEXT ",\"model\":" TEXT ",\"question\":" TEXT ",\"text\":" TEXT
		",\"thinking\":" TEXT ",\"entry\":" TEXT ",\"seq\":" NUMBER),
	 NULL},
	{"Events", "server-sent events", TEXT, "text/event-stream"},
	{"File", "the file", TEXT, "application/octet-stream"},
	{"Import",
	 "`format`, `discussions`, `entries`, `takes` (added), `known` (there already), "
	 "`settings` (of the project, changed), `repaired`, "
	 "`skipped`, `noted`, `remarks`, `dry_run`, `discussion`, `seq`",
	 OBJECT("\"format\":" TEXT ",\"discussions\":" NUMBER ",\"entries\":" NUMBER
		",\"takes\":" NUMBER ",\"known\":" NUMBER ",\"settings\":" NUMBER
		",\"repaired\":" NUMBER
		",\"skipped\":" NUMBER ",\"noted\":" NUMBER ",\"remarks\":" LIST(
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

/* ---- what the documents share ---- */

const rt_route *
rt_openapi_route_of(const rt_route *routes, rt_op_id op)
{
	const rt_route *route, *found = NULL;

	for (route = routes; route->path != NULL; route++) {
		if (route->op != (int)op)
			continue;
		if (strcmp(route->name, rt_ops[op].name) == 0)
			return route;
		if (found == NULL)
			found = route;
	}
	return found;
}

/* By the first word of the name. */
static const struct {
	const char *words; /* with a blank before and behind each */
	const char *title;
} nouns[] = {
	{" info health openapi model server code logout ", "The server"},
	{" project ", "Projects"},
	{" discussion ", "Discussions"},
	{" entry head ", "Entries"},
	{" take ", "Takes"},
	{" label ", "Labels"},
	{" prompt setting role files track preset ", "Prompt, settings, files"},
	{" history undo redo jump revert undo_anywhere redo_anywhere jump_anywhere purge ",
	 "History"},
	{" op batch advice ", "Any operation"},
	{" search context render ", "Finding and sending"},
	{" run ", "Runs"},
	{" events ", "Events"},
	{" export import ", "Files in and out"},
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
	size_t size = strcspn(route->name, "."), i;
	char word[48];

	if (size + 3 > sizeof(word))
		return NULL;
	word[0] = ' ';
	memcpy(word + 1, route->name, size);
	word[size + 1] = ' ';
	word[size + 2] = '\0';
	for (i = 0; nouns[i].words != NULL; i++)
		if (strstr(nouns[i].words, word) != NULL)
			return nouns[i].title;
	return NULL;
}

bool
rt_openapi_in_path(const rt_route *route, const char *name)
{
	size_t i;

	for (i = 0; i < RT_ROUTE_PARAMS; i++)
		if (rt_str_is(rt_route_param_name(route->path, i), name))
			return true;
	return false;
}

/* ---- writing ---- */

static void
add_text(rt_buf *buf, const char *key, const char *text)
{
	rt_json_add_key(buf, key);
	rt_json_add_string(buf, rt_str_of(text));
}

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
add_field(rt_buf *buf, const char *name, const char *schema, const char *about)
{
	rt_json_add_key(buf, name);
	rt_buf_add_byte(buf, '{');
	rt_buf_add_c(buf, schema);
	add_text(buf, "description", about);
	rt_buf_add_byte(buf, '}');
}

static void
add_param_schema(rt_buf *buf, const rt_route_param *param)
{
	if (strcmp(param->type, "content") == 0)
		rt_buf_add_c(buf, "\"type\":[\"string\",\"array\"]");
	else
		rt_buf_add_f(buf, "\"type\":\"%s\"", param->type);
}

/* The fields of an operation that the path (of route, or NULL) does not have, and further
 * ones. */
static void
add_body_schema(rt_buf *buf, const rt_op *op, const rt_route *route, const rt_route_param *more)
{
	const rt_op_field *field;
	bool any = false;

	rt_buf_add_c(buf, "{\"type\":\"object\",\"properties\":{");
	for (field = op != NULL ? op->fields : NULL; field != NULL && field->name != NULL; field++)
		if (route == NULL || !rt_openapi_in_path(route, field->name))
			add_field(buf, field->name, schema_of_field(field), field->about);
	for (; more != NULL && more->name != NULL; more++) {
		rt_json_add_key(buf, more->name);
		rt_buf_add_byte(buf, '{');
		add_param_schema(buf, more);
		add_text(buf, "description", more->about);
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_byte(buf, '}');
	for (field = op != NULL ? op->fields : NULL; field != NULL && field->name != NULL;
	     field++) {
		if ((field->flags & RT_FIELD_REQUIRED) == 0 ||
		    (route != NULL && rt_openapi_in_path(route, field->name)))
			continue;
		rt_buf_add_c(buf, any ? "," : ",\"required\":[");
		rt_json_add_string(buf, rt_str_of(field->name));
		any = true;
	}
	rt_buf_add_c(buf, any ? "]}" : "}");
}

static const char *
about_path_param(const rt_op *op, const char *name)
{
	const rt_op_field *field = op != NULL ? rt_op_field_named(op, rt_str_of(name)) : NULL;

	if (field != NULL)
		return field->about;
	if (strcmp(name, "discussion") == 0)
		return "name or id of the discussion";
	if (strcmp(name, "take") == 0 || strcmp(name, "a") == 0 || strcmp(name, "b") == 0)
		return "name or id of the take";
	if (strcmp(name, "entry") == 0)
		return "id of the entry, a unique prefix of it, a label, @ (the last), :7 (by number)";
	return name;
}

static void
add_parameters(rt_buf *buf, const rt_route *route, const rt_op *op)
{
	const rt_route_param *param;
	size_t i;

	rt_buf_add_c(buf, ",\"parameters\":[");
	for (i = 0; i < RT_ROUTE_PARAMS; i++) {
		rt_str name = rt_route_param_name(route->path, i);
		const rt_op_field *field = op != NULL ? rt_op_field_named(op, name) : NULL;
		char room[32];

		if (name.size == 0 || name.size >= sizeof(room))
			continue;
		memcpy(room, name.ptr, name.size);
		room[name.size] = '\0';
		rt_json_add_comma(buf);
		rt_buf_add_c(buf, "{\"name\":");
		rt_json_add_string(buf, name);
		rt_buf_add_f(buf, ",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"%s\"}",
			     field != NULL && field->type == RT_FIELD_NUMBER ? "integer"
									     : "string");
		add_text(buf, "description", about_path_param(op, room));
		rt_buf_add_byte(buf, '}');
	}
	for (param = route->query; param != NULL && param->name != NULL; param++) {
		rt_json_add_comma(buf);
		rt_buf_add_c(buf, "{\"name\":");
		rt_json_add_string(buf, rt_str_of(param->name));
		rt_buf_add_c(buf, ",\"in\":\"query\",\"schema\":{");
		add_param_schema(buf, param);
		rt_buf_add_byte(buf, '}');
		add_text(buf, "description", param->about);
		rt_buf_add_byte(buf, '}');
	}
	if ((route->flags & RT_ROUTE_NO_PROJECT) == 0) {
		rt_json_add_comma(buf);
		rt_buf_add_c(buf, "{\"$ref\":\"#/components/parameters/Project\"}");
	}
	if (route->flags & RT_ROUTE_CHANGES && (route->flags & RT_ROUTE_NO_PROJECT) == 0)
		rt_buf_add_c(buf, ",{\"$ref\":\"#/components/parameters/IfMatch\"}"
				  ",{\"$ref\":\"#/components/parameters/IdempotencyKey\"}"
				  ",{\"$ref\":\"#/components/parameters/By\"}");
	rt_buf_add_byte(buf, ']');
}

static bool
has_body(const rt_route *route, const rt_op *op)
{
	const rt_op_field *field;

	if (route->flags & RT_ROUTE_LARGE || route->body != NULL ||
	    (route->op < 0 && strcmp(route->name, "op") == 0))
		return true;
	for (field = op != NULL ? op->fields : NULL; field != NULL && field->name != NULL; field++)
		if (!rt_openapi_in_path(route, field->name))
			return true;
	return false;
}

static void
add_operation(rt_buf *buf, const rt_route *route)
{
	const rt_op *op = route->op >= 0 ? &rt_ops[route->op] : NULL;
	const rt_shape *shape = rt_shape_named(route->answer != NULL ? route->answer : "Result");
	bool is_change = (route->flags & RT_ROUTE_CHANGES) != 0;

	RT_ASSERT(shape != NULL);
	rt_buf_add_c(buf, "{\"operationId\":");
	rt_json_add_string(buf, rt_str_of(route->name));
	add_text(buf, "summary", route->about);
	rt_buf_add_c(buf, ",\"tags\":[");
	rt_json_add_string(buf, rt_str_of(rt_openapi_noun_of(route)));
	rt_buf_add_byte(buf, ']');
	add_parameters(buf, route, op);
	if (route->flags & RT_ROUTE_LARGE) {
		rt_buf_add_c(buf, ",\"requestBody\":{\"required\":true,\"content\":"
				  "{\"application/octet-stream\":{}}}");
	} else if (has_body(route, op)) {
		rt_buf_add_c(buf, ",\"requestBody\":{\"content\":{\"application/json\":"
				  "{\"schema\":");
		add_body_schema(buf, op, route, route->body);
		rt_buf_add_c(buf, "}}}");
	}
	rt_buf_add_f(buf, ",\"responses\":{\"%s\":{", is_change ? "2XX" : "200");
	rt_buf_add_c(buf, "\"description\":");
	rt_json_add_string(buf, rt_str_of(shape->about));
	rt_buf_add_f(buf,
		     ",\"content\":{\"%s\":{\"schema\":{\"$ref\":\"#/components/schemas/%s\"}}}",
		     shape->type != NULL ? shape->type : "application/json", shape->name);
	rt_buf_add_c(buf, "},\"default\":{\"$ref\":\"#/components/responses/Problem\"}}}");
}

static void
add_paths(const rt_route *routes, rt_buf *buf)
{
	const rt_route *route, *other;

	rt_buf_add_c(buf, ",\"paths\":{");
	for (route = routes; route->path != NULL; route++) {
		if (route->flags & RT_ROUTE_ROOT)
			continue;
		for (other = routes; other < route && strcmp(other->path, route->path) != 0;)
			other++;
		if (other < route)
			continue; /* was there already */
		rt_json_add_key(buf, route->path);
		rt_buf_add_byte(buf, '{');
		for (; other->path != NULL; other++) {
			const char *name = rt_route_method(other->method);

			if (strcmp(other->path, route->path) != 0)
				continue;
			rt_json_add_comma(buf);
			rt_buf_add_byte(buf, '"');
			for (; *name != '\0'; name++)
				rt_buf_add_byte(buf, (char)(*name | 0x20));
			rt_buf_add_c(buf, "\":");
			add_operation(buf, other);
		}
		rt_buf_add_byte(buf, '}');
	}
	rt_buf_add_byte(buf, '}');
}

static void
add_header_parameter(rt_buf *buf, const char *id, const char *name, const char *about)
{
	rt_json_add_key(buf, id);
	rt_buf_add_c(buf, "{\"in\":\"header\",\"schema\":{\"type\":\"string\"}");
	add_text(buf, "name", name);
	add_text(buf, "description", about);
	rt_buf_add_byte(buf, '}');
}

static void
add_components(rt_buf *buf)
{
	const rt_shape *shape;
	size_t i;

	rt_buf_add_c(buf, ",\"components\":{\"schemas\":{");
	for (shape = rt_shapes; shape->name != NULL; shape++) {
		rt_json_add_key(buf, shape->name);
		rt_buf_add_c(buf, shape->schema);
	}
	for (i = 0; i < RT_OP_COUNT; i++) {
		rt_buf_add_f(buf, ",\"op.%s\":", rt_ops[i].name);
		add_body_schema(buf, &rt_ops[i], NULL, NULL);
	}
	rt_buf_add_c(buf, "},\"parameters\":{");
	add_header_parameter(buf, "Project", "Retake-Project",
			     "the project; default: the one that the server was started with");
	add_header_parameter(
		buf, "IfMatch", "If-Match",
		"an ETag that was read: nothing is done where it does not hold any more");
	add_header_parameter(
		buf, "IdempotencyKey", "Idempotency-Key",
		"1 to 200 visible ASCII characters: with the same key it is done once");
	add_header_parameter(buf, "By", "Retake-By",
			     "who asks, for the history: 1 to 64 of A-Z a-z 0-9 . _ -");
	rt_buf_add_c(buf,
		     "},\"responses\":{\"Problem\":{\"description\":\"what is wrong (RFC 9457)\","
		     "\"content\":{\"application/problem+json\":{\"schema\":"
		     "{\"$ref\":\"#/components/schemas/Problem\"}}}}},"
		     "\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}}");
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
	add_paths(routes, buf);
	add_components(buf);
	rt_buf_add_byte(buf, '}');
}
