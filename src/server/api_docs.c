/* SPDX-License-Identifier: MIT
 *
 * docs/api.md. Descriptions of routes come from their table; the text here applies to all of
 * them. */
#include "server/openapi.h"

static const char intro[] =
	"# The HTTP interface\n"
	"\n"
	"`retake serve` answers programs under `" RT_API_ROOT
	"`. Everything that the command line can do\n"
	"to a conversation is here: each operation of [the contract](contract.md) is a route, and any can be\n"
	"asked for by its name. This page and `GET " RT_API_ROOT
	"/openapi.json` (OpenAPI 3.1) are made from\n"
	"the table by which the server finds its routes.\n"
	"\n"
	"```\n"
	"RETAKE=http://127.0.0.1:8999\n"
	"TOKEN=$(cat \"${XDG_STATE_HOME:-$HOME/.local/state}/retake/token\")\n"
	"curl -H \"Authorization: Bearer $TOKEN\" $RETAKE" RT_API_ROOT "/discussions\n"
	"```\n"
	"\n"
	"## What holds for all\n"
	"\n"
	"Bodies and answers are JSON in UTF-8. Members that a route does not know are kept by operations that\n"
	"keep unknown fields (they become fields of the entry, or of the log's row) and ignored elsewhere. What\n"
	"is on this page grows and does not change within `v1`.\n"
	"\n"
	"**Where.** `{discussion}` in a path is a name or an id (`d1`), and so is `{take}` (`t2`). A route that\n"
	"has no take in its path takes the query's `take`, else the active one. `{entry}` is an address: an id,\n"
	"a unique prefix of one, a label, `@` (the head), `:7` (the seventh). Percent-encode what needs it.\n"
	"The project is named by the header `Retake-Project` or, for requests that cannot have headers, by the\n"
	"query's `project`; the default is the one that the server was started with. A browser that signed in\n"
	"with a link for one project, or at a server with `--isolate`, has only its own; `features` of `/info`\n"
	"contains `projects` for clients that can choose.\n"
	"\n"
	"Several who work on one store each name discussion and take with every request: the active ones are a\n"
	"default that every one of them moves (making a discussion, a branch or an import does).\n"
	"\n"
	"**Undo** without `scope` takes back the newest step of the discussion *or* of the project's own things\n"
	"(settings, roles, the catalogue of discussions), whoever made it, as it does everywhere else; with\n"
	"`{\"scope\":\"discussion\"}` it stays in the discussion. To take back a step of one's own whatever\n"
	"others did since: `POST " RT_API_ROOT "/history/{seq}/revert`.\n"
	"\n"
	"**The past.** `at_op=N` looks at what was there right after row N of the history. It changes nothing.\n"
	"\n"
	"**Changes** answer with what `retake apply` says: `seq` and what there is of `entry`, `take`,\n"
	"`discussion`, `note` …; and beside it\n"
	"\n"
	"```\n"
	"\"op\":{\"seq\":42,\"op\":\"entry.edit\",\"by\":\"http\",\n"
	"      \"undo\":{\"method\":\"POST\",\"path\":\"" RT_API_ROOT "/history/42/revert\"}}\n"
	"```\n"
	"\n"
	"`undo` is the request that takes it back: whatever comes after, or, with `\"while_newest\":true`, as long\n"
	"as nothing has. Status 201 with `Location` says that something was made, 200 that something was changed, or (with\n"
	"`\"unchanged\":true`) that it was so already. Hooks are asked as always; what they want people to know\n"
	"is in `notes`.\n"
	"\n"
	"**If-Match.** What is read has an `ETag`; equal tags are equal states. A change with `If-Match` is done\n"
	"only where one of its tags still holds: the entry's (its text, role, flags and label in that take), its\n"
	"discussion's (which the project's settings, roles and names are part of), or, for what names no\n"
	"discussion, the project's. This is looked at within the transaction that makes the change, so nobody\n"
	"comes in between; else the answer is 412 and nothing was done. `If-Match: *` asks only that the thing is\n"
	"there. How an entry is shown (`collapsed`, `read_mode`) is in no tag. A server may demand it (428).\n"
	"\n"
	"**Idempotency-Key.** With 1 to 200 visible ASCII characters, a change is done once: the answer is kept\n"
	"for a day, in the transaction of the change, and the same request with the same key is answered with it\n"
	"(header `Idempotency-Replayed: true`), also after a crash. Another request with that key is 422. What\n"
	"failed is not kept, so it may be tried again. A run is entered before it is begun: a retry that comes\n"
	"before its answer is 409. An import keeps its answer right behind what it did, and knows what is there.\n"
	"\n"
	"**Retake-By** (1 to 64 of `A-Z a-z 0-9 . _ -`) is who the history says it was: `http:NAME`.\n"
	"\n"
	"";

static const char wrong[] =
	"## What is wrong\n"
	"\n"
	"Failures are problems (RFC 9457, `application/problem+json`):\n"
	"\n"
	"```\n"
	"{\"type\":\"urn:retake:problem:not-found\",\"title\":\"There is no such thing\",\"status\":404,\n"
	" \"code\":\"not_found\",\"detail\":\"no entry matches \\\"zz\\\"\"}\n"
	"```\n"
	"\n"
	"`code` is the word of the command line, or one of HTTP's in the same form. Of a batch, `index` is the operation that could not be done.\n"
	"\n"
	"| status | code |\n"
	"|---|---|\n"
	"| 400 | `usage`: the request is malformed; `malformed_request`: it is no proper HTTP |\n"
	"| 401 | `unauthenticated`: neither the token, nor the socket, nor a cookie that is good |\n"
	"| 403 | `forbidden_host`, `forbidden_origin`: asked by another name, or from another page ([security](security.md)); `read_only` |\n"
	"| 404 | `not_found`: no such thing, or no such route |\n"
	"| 405 | `method_not_allowed`: the header `Allow` says what there is |\n"
	"| 409 | `refused`, `ambiguous`, `too_new`, `credentials` (no model, or no key for it); a reply that is being continued already (`run` is by which run); a run of this Idempotency-Key was begun |\n"
	"| 412 | `conflict`: If-Match failed |\n"
	"| 413, 414, 431 | `limit`, `too_large`, `target_too_long`, `headers_too_large` |\n"
	"| 415 | `content_type`: a body is `application/json` |\n"
	"| 422 | `hook_refused`: a hook said no; `idempotency_key_reused`: the key of another request |\n"
	"| 428 | `precondition_required`: this server demands If-Match |\n"
	"| 500, 507 | `corrupt`, `io`; `disk_full` |\n"
	"| 502 | `upstream`: the model's server failed |\n"
	"| 503 | `busy`, `out_of_memory`, `interrupted` |\n"
	"\n"
	"";

static const char events[] =
	"## Events\n"
	"\n"
	"`GET " RT_API_ROOT "/events` is a stream of server-sent events. Open it before what is to be watched. An event\n"
	"of the log has an `id`; whoever comes back with the last one (`Last-Event-ID`) is sent what came after it,\n"
	"each once, in order, also what other processes wrote. The others have none: a client that comes back is\n"
	"told how things stand.\n"
	"\n"
	"| event | data |\n"
	"|---|---|\n"
	"| `hello` | first of all: `seq`, `epoch`, `project`; its id is where the stream begins |\n"
	"| `op` | a row of the log, see below |\n"
	"| `reset` | the history is another one now (restore, purge), in every project of the store: forget tags and texts, read everything again. Its id is where the stream goes on |\n"
	"| `newer` | the log goes on with what only a newer Retake can read: `seq`, `detail` |\n"
	"| `run.started` | a model is at work: the run, as `GET " RT_API_ROOT "/runs/{run}` has it, without texts |\n"
	"| `run.asked` | `run`, `question`: the entry that the question became |\n"
	"| `run.snapshot` | the run with its texts so far, for who comes while it is at work |\n"
	"| `run.notice` | `run`, `text`: trying again, waiting |\n"
	"| `run.delta` | `run`, `offset`, and `text`, `thinking` or `call` (with `block`): what comes at that place, in bytes of UTF-8, of all text (thinking) so far; `reply` says of which one, where there are several |\n"
	"| `run.ended` | the run without texts; the row of its entry came before. Who comes back later asks for the run |\n"
	"| `flight` | a reply that another process on the store receives: `flight`, `discussion`, `take`, `after` or `into`, `model`, `text` so far |\n"
	"| `flight.ended` | `flight`: what came of it is a row |\n"
	"| `: ` | a comment every 15 s |\n"
	"\n"
	"An `op` says what was done to lists of ids, for who holds the lists as they were:\n"
	"\n"
	"```\n"
	"{\"seq\":42,\"kind\":\"step\",\"op\":\"entry.edit\",\"by\":\"http:ann\",\"at\":\"2026-11-21T20:35:40Z\",\n"
	" \"discussion\":\"d1\",\"discussions\":[\"d1\"],\"entries\":[\"k3f9\"],\"takes\":[\"d1/t1\"],\n"
	" \"splices\":[{\"discussion\":\"d1\",\"take\":\"t1\",\"at\":4,\"remove\":1,\"insert\":[\"k3f9\"]}]}\n"
	"```\n"
	"\n"
	"`kind` is `step`, `move` (undo, redo, jump), `view` or `note`. `splices` apply in their order: `remove` ids\n"
	"from position `at`, then `insert`; or a take was made out of the first `count` of another (`from_take`,\n"
	"`from_discussion`); or, with `present`, it is in the catalogue now or no longer. `entries`: whose text, role,\n"
	"flags, label or view is another now. `fields`: further things, `d1/head`, `project/setting.model`.\n"
	"`\"whole\":true`: too much to list, read the discussions again.\n";
static const char *
word_of(const rt_op_field *field)
{
	switch (field->type) {
	case RT_FIELD_STRING: return "text";
	case RT_FIELD_CONTENT: return "text or array";
	case RT_FIELD_ADDRESS: return "entry";
	case RT_FIELD_NUMBER: return "number";
	case RT_FIELD_BOOL: return "true or false";
	case RT_FIELD_ARRAY: return "array";
	case RT_FIELD_MOMENT: return "time";
	case RT_FIELD_ANY: break;
	}
	return "any JSON";
}

static const char *
word_of_param(const char *type)
{
	if (strcmp(type, "string") == 0)
		return "text";
	if (strcmp(type, "integer") == 0)
		return "number";
	if (strcmp(type, "boolean") == 0)
		return "true or false";
	return strcmp(type, "content") == 0 ? "text or array" : type;
}

static void
add_item(rt_buf *buf, const char *name, const char *type, const char *further, const char *about)
{
	rt_buf_add_f(buf, "- `%s` (%s%s): %s\n", name, type, further, about);
}

static void
add_params(rt_buf *buf, const rt_route_param *params, const char *heading)
{
	if (params == NULL || params->name == NULL)
		return;
	rt_buf_add_f(buf, "\n%s\n\n", heading);
	for (; params->name != NULL; params++)
		add_item(buf, params->name, word_of_param(params->type), "", params->about);
}

/* The fields of an operation that a path does not have. */
static size_t
add_fields(rt_buf *buf, const rt_route *route, const rt_op *op, const char *heading)
{
	const rt_op_field *field = op->fields;
	size_t count = 0;

	for (; (field = rt_openapi_next_field(route, field)) != NULL; field++) {
		if (count++ == 0)
			rt_buf_add_f(buf, "\n%s\n\n", heading);
		add_item(buf, field->name, word_of(field),
			 field->flags & RT_FIELD_REQUIRED && field->flags & RT_FIELD_NULLABLE
				 ? " or null, required"
			 : field->flags & RT_FIELD_REQUIRED ? ", required"
			 : field->flags & RT_FIELD_NULLABLE ? " or null"
							    : "",
			 field->about);
	}
	if (count > 0 && (op->flags & RT_OP_OPEN) != 0)
		rt_buf_add_c(buf, "\nFurther members become fields of the entry.\n");
	return count;
}

/* A path that somebody could have asked for. */
static void
add_example_path(rt_buf *buf, const char *path)
{
	static const char *const examples[][2] = {
		{"discussion", "main"}, {"entry", ":4"},  {"at", ":4"},
		{"take", "t2"},         {"a", "t1"},      {"b", "t2"},
		{"label", "start"},     {"key", "model"}, {"role", "Reviewer"},
		{"which", "files"},     {"name", "mine"}, {"seq", "42"},
		{"op", "entry.append"}, {"run", "r3"}};
	size_t i, size;

	for (; *path != '\0'; path++) {
		if (*path != '{') {
			rt_buf_add_byte(buf, *path);
			continue;
		}
		size = strcspn(path + 1, "}");
		for (i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
			if (rt_str_is(rt_str_at(path + 1, size), examples[i][0]))
				rt_buf_add_c(buf, examples[i][1]);
		path += size + 1;
	}
}

static const char *
example_value(const rt_op_field *field)
{
	if (field->flags & RT_FIELD_NULLABLE && field->type != RT_FIELD_ANY)
		return "null";
	switch (field->type) {
	case RT_FIELD_NUMBER: return "2";
	case RT_FIELD_BOOL: return "true";
	case RT_FIELD_ARRAY: return strcmp(field->name, "entries") == 0 ? "[\":5\"]" : "[]";
	case RT_FIELD_ADDRESS: return "\":4\"";
	case RT_FIELD_ANY: return "\"ollama/qwen3:8b\"";
	default:
		return strcmp(field->name, "from") == 0   ? "\"t1\""
		       : strcmp(field->name, "name") == 0 ? "\"second\""
		       : strcmp(field->name, "role") == 0 ? "\"Reviewer\""
							  : "\"Use SQLite.\"";
	}
}

/* The members that an example needs. */
static const char *
example_body(const rt_route *route)
{
	static const char *const bodies[][2] = {
		{"entry.append", "{\"role\":\"User\",\"content\":\"Why SQLite?\"}"},
		{"entry.insert", "{\"after\":\":2\",\"role\":\"User\",\"content\":\"Wait.\"}"},
		{"entry.reply", "{\"after\":\"@\",\"content\":\"Because.\"}"},
		{"entry.patch", "{\"content\":\"Use SQLite.\",\"mode\":\"take\"}"},
		{"entry.move", "{\"after\":\":6\"}"},
		{"entry.view", "{\"collapsed\":true}"},
		{"entry.view_all", "{\"all\":true,\"collapsed\":true}"},
		{"entry.read", "{\"ids\":[\"k3f9\",\"3zn0\"]}"},
		{"entry.delete_run", "{\"from\":\":4\",\"to\":\":6\"}"},
		{"take.graft", "{\"entries\":[\":5\"],\"from\":\"t1\",\"after\":\":4\"}"},
		{"head.move", "{\"entry\":\":4\"}"},
		{"track.set", "{\"track\":\"docs\"}"},
		{"track.toggle", "{\"track\":\"docs\"}"},
		{"purge", "{\"text\":\"a secret\"}"},
		{"purge.entry", "{\"entry\":\":4\"}"},
		{"project.new", "{\"name\":\"work\"}"},
		{"op", "{\"content\":\"Why SQLite?\"}"},
		{"run.start", "{\"how\":\"ask\",\"text\":\"Why SQLite?\"}"}};
	size_t i;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		if (strcmp(route->name, bodies[i][0]) == 0)
			return bodies[i][1];
	return strcmp(route->name, "batch") == 0 || strcmp(route->name, "batch.here") == 0 ||
			       strcmp(route->name, "advice") == 0
		       ? "{\"ops\":[{\"op\":\"entry.delete\",\"entry\":\":4\"}]}"
		       : NULL;
}

static void
add_example(rt_buf *buf, const rt_route *route, const rt_op *op)
{
	const rt_op_field *field = op != NULL ? op->fields : NULL;
	const char *body = example_body(route);
	bool any = false;

	rt_buf_add_c(buf, "\n```\ncurl -H \"Authorization: Bearer $TOKEN\"");
	if (route->method != RT_WEB_GET)
		rt_buf_add_f(buf, " -X %s", rt_route_method(route->method));
	if (route->flags & RT_ROUTE_STREAM)
		rt_buf_add_c(buf, " -N");
	rt_buf_add_c(buf, " \\\n     \"$RETAKE" RT_API_ROOT);
	add_example_path(buf, route->path);
	rt_buf_add_c(buf, strcmp(route->name, "search") == 0 ? "?q=sqlite\"" : "\"");
	if (route->flags & RT_ROUTE_LARGE)
		rt_buf_add_c(buf, " \\\n     -H 'Content-Type: application/octet-stream' "
				  "--data-binary @session.jsonl");
	else if (body != NULL)
		rt_buf_add_f(buf, " \\\n     -H 'Content-Type: application/json' -d '%s'", body);
	for (; body == NULL && field != NULL && field->name != NULL; field++) {
		if ((field->flags & RT_FIELD_REQUIRED) == 0 ||
		    rt_openapi_in_path(route, field->name))
			continue;
		rt_buf_add_c(buf,
			     any ? "," : " \\\n     -H 'Content-Type: application/json' -d '{");
		rt_buf_add_f(buf, "\"%s\":%s", field->name, example_value(field));
		any = true;
	}
	rt_buf_add_c(buf, any ? "}'\n```\n" : "\n```\n");
}

static void
add_route(rt_buf *buf, const rt_route *route)
{
	const rt_op *op = route->op >= 0 ? &rt_ops[route->op] : NULL;
	const rt_shape *shape = rt_shape_named(route->answer != NULL ? route->answer : "Result");

	char first = route->about[0];

	if (first >= 'a' && first <= 'z')
		first = (char)(first - 'a' + 'A');
	rt_buf_add_f(buf, "\n### `%s %s`\n\n%c%s", rt_route_method(route->method), route->path,
		     first, route->about + 1);
	if (op != NULL)
		rt_buf_add_f(buf, " (the operation `%s`)", op->name);
	rt_buf_add_c(buf, ".\n");
	if (route->flags & RT_ROUTE_OWNER)
		rt_buf_add_c(buf, "\nNot for browsers that have a project of their own.\n");
	add_params(buf, route->query, "Query:");
	if (op != NULL)
		(void)add_fields(buf, route, op, "Body:");
	add_params(buf, route->body, "Body:");
	if (route->flags & RT_ROUTE_FILE)
		rt_buf_add_c(buf,
			     "\nBody: the file, of any type that Retake reads, up to 1 GiB. From a browser "
			     "with a project of its own: up to 64 MiB, 100,000 discussions and 1,000,000 "
			     "entries; more is answered with 413.\n");
	rt_buf_add_f(buf, "\nAnswer: %s%s%s.\n", route->answer == NULL ? "a result" : shape->about,
		     shape->type != NULL && route->answer != NULL ? " as " : "",
		     shape->type != NULL && route->answer != NULL
			     ? (strcmp(shape->name, "File") == 0 ? "attachment" : shape->type)
			     : "");
	add_example(buf, route, op);
}

static void
add_operations(const rt_route *routes, rt_buf *buf)
{
	const rt_route *route;
	size_t i;

	rt_buf_add_c(buf,
		     "\n## All operations\n\n"
		     "Each can be asked for with `POST " RT_API_ROOT "/ops/NAME` and in a batch. "
		     "Their fields are those of\n[the contract](contract.md#operations).\n\n"
		     "| operation | route |\n|---|---|\n");
	for (i = 0; i < RT_OP_COUNT; i++) {
		route = rt_openapi_route_of(routes, (rt_op_id)i);
		rt_buf_add_f(buf, "| `%s`: %s | ", rt_ops[i].name, rt_ops[i].about);
		if (route != NULL)
			rt_buf_add_f(buf, "`%s %s` |\n", rt_route_method(route->method),
				     route->path);
		else
			rt_buf_add_f(buf, "`POST /ops/%s` |\n", rt_ops[i].name);
	}
}

/* "Prompt, settings, files" as GitHub names the heading: prompt-settings-files. */
static void
add_anchor(rt_buf *buf, const char *title)
{
	for (; *title != '\0'; title++) {
		if (*title == ' ')
			rt_buf_add_byte(buf, '-');
		else if (*title >= 'A' && *title <= 'Z')
			rt_buf_add_byte(buf, (char)(*title | 0x20));
		else if (*title != ',')
			rt_buf_add_byte(buf, *title);
	}
}

void
rt_api_docs_write(const rt_route *routes, rt_buf *buf)
{
	const rt_route *route;
	const char *noun;
	size_t i;

	rt_buf_add_c(buf, intro);
	rt_buf_add_c(buf, wrong);
	rt_buf_add_c(buf, events);
	rt_buf_add_c(buf, "\n## Routes\n\nAll paths are under `" RT_API_ROOT "`.\n\n");
	for (i = 0; (noun = rt_openapi_noun(i)) != NULL; i++) {
		rt_buf_add_f(buf, "- [%s](#", noun);
		add_anchor(buf, noun);
		rt_buf_add_c(buf, ")\n");
	}
	for (i = 0; (noun = rt_openapi_noun(i)) != NULL; i++) {
		rt_buf_add_f(buf, "\n## %s\n", noun);
		for (route = routes; route->path != NULL; route++)
			if ((route->flags & RT_ROUTE_ROOT) == 0 &&
			    rt_openapi_noun_of(route) == noun)
				add_route(buf, route);
	}
	add_operations(routes, buf);
}
