/* SPDX-License-Identifier: MIT
 *
 * docs/api.md. Descriptions of routes come from their table; the text here applies to all of
 * them. */
#include "server/openapi.h"

static const char intro[] =
	"# The HTTP interface\n"
	"\n"
	"`retake serve` answers HTTP requests under `" RT_API_ROOT
	"`. Every [operation](contract.md) of the\n"
	"command line is a route, and any operation can be called by name. This page and\n"
	"`GET " RT_API_ROOT
	"/openapi.json` (OpenAPI 3.1) are generated from the server's table of routes.\n"
	"\n"
	"```\n"
	"RETAKE=http://127.0.0.1:8999\n"
	"TOKEN=$(cat \"${XDG_STATE_HOME:-$HOME/.local/state}/retake/token\")\n"
	"curl -H \"Authorization: Bearer $TOKEN\" $RETAKE" RT_API_ROOT "/discussions\n"
	"```\n"
	"\n"
	"## All routes\n"
	"\n"
	"Requests and responses are JSON in UTF-8. Members that a route does not know are ignored, except by\n"
	"operations that keep unknown fields (as fields of the entry or of the log row). Within `v1`, this\n"
	"interface is extended but never changed.\n"
	"\n"
	"**Addresses.** `{discussion}` and `{take}` in a path are names or ids (`d1`, `t2`). Routes\n"
	"without a take in the path use the query's `take`, or the active take. `{entry}` is an id, a unique\n"
	"prefix of an id, a label, `@` (the head) or `:7` (the seventh entry). Percent-encode other characters.\n"
	"The project is specified in the `Retake-Project` header or, for requests that cannot have headers, in\n"
	"the query's `project`; the default is the project with which the server was started. A browser that\n"
	"signed in with a link for one project, or to a server with `--isolate`, can access only its own project.\n"
	"`features` of `/info` contains `projects` if the client can choose.\n"
	"\n"
	"If several clients use the same store, specify the discussion and take in every request. The active\n"
	"discussion and take are only defaults, and creating a discussion or a branch, or importing, changes them\n"
	"for every client.\n"
	"\n"
	"**Undo** without `scope` reverts the newest step of the discussion or of the project (settings, roles,\n"
	"list of discussions), whoever made it. `{\"scope\":\"discussion\"}` limits it to the discussion. To undo\n"
	"one particular step and keep later ones, use `POST " RT_API_ROOT
	"/history/{seq}/revert`.\n"
	"\n"
	"**Earlier states.** `at_op=N` reads the state after row N of the history. It changes nothing.\n"
	"\n"
	"**Changes** return the same as `retake apply`: `seq` and, where they apply, `entry`, `take`,\n"
	"`discussion`, `note` and others. They also contain\n"
	"\n"
	"```\n"
	"\"op\":{\"seq\":42,\"op\":\"entry.edit\",\"by\":\"http\",\n"
	"      \"undo\":{\"method\":\"POST\",\"path\":\"" RT_API_ROOT "/history/42/revert\"}}\n"
	"```\n"
	"\n"
	"`undo` is the request that undoes the change. With `\"while_newest\":true` it works only until the next\n"
	"change. Status 201 with `Location` means that something was created; 200 means that something was\n"
	"changed, or, with `\"unchanged\":true`, that the state was already as requested. Hooks run as for any\n"
	"change; their messages to the user are in `notes`.\n"
	"\n"
	"**If-Match.** Responses to reads have an `ETag`; equal tags mean equal states. A change with `If-Match`\n"
	"is carried out only if one of its tags still matches: the tag of the entry (its text, role, flags and\n"
	"label in the take), of the discussion (including the settings, roles and names of the project) or, for\n"
	"requests without a discussion, of the project. The check is part of the transaction of the change, so\n"
	"no other change can intervene. If no tag matches, the response is 412 and nothing is changed.\n"
	"`If-Match: *` requires only that the object exists. Tags do not cover how an entry is shown\n"
	"(`collapsed`, `read_mode`). A server can require `If-Match` (428).\n"
	"\n"
	"**Idempotency-Key.** A change with a key of 1 to 200 visible ASCII characters is carried out once. The\n"
	"response is stored for a day in the transaction of the change, and repeating the request with the same key\n"
	"returns it (header `Idempotency-Replayed: true`), even after a crash. A different request with the same\n"
	"key is refused with 422. Failures are not stored, so they can be retried. A run is recorded before it\n"
	"starts; a retry before its response is refused with 409. An import stores its response when it has\n"
	"finished; a retry before that skips entries that were already imported.\n"
	"\n"
	"**Retake-By** (1 to 64 of `A-Z a-z 0-9 . _ -`) sets the author in the history: `http:NAME`.\n"
	"\n";

static const char wrong[] =
	"## Errors\n"
	"\n"
	"Errors are problem documents (RFC 9457, `application/problem+json`):\n"
	"\n"
	"```\n"
	"{\"type\":\"urn:retake:problem:not-found\",\"title\":\"Not found\",\"status\":404,\n"
	" \"code\":\"not_found\",\"detail\":\"no entry matches \\\"zz\\\"\"}\n"
	"```\n"
	"\n"
	"`code` is the error code of the command line or a code for an HTTP error. In a batch, `index` is the\n"
	"operation that failed.\n"
	"\n"
	"| status | code |\n"
	"|---|---|\n"
	"| 400 | `usage`: malformed request; `malformed_request`: not valid HTTP |\n"
	"| 401 | `unauthenticated`: no valid token, socket or cookie |\n"
	"| 403 | `forbidden_host`, `forbidden_origin`: wrong host name, or a request from another site ([security](security.md)); `read_only`; `forbidden`, `quota_exceeded`: see [accounts](accounts.md) |\n"
	"| 404 | `not_found`: no such object or route |\n"
	"| 405 | `method_not_allowed`: the header `Allow` lists the allowed methods |\n"
	"| 409 | `refused`, `ambiguous`, `too_new`, `credentials` (no model, or no key for it); the reply is already being continued (`run` is that run); a run with this Idempotency-Key has started |\n"
	"| 412 | `conflict`: If-Match failed |\n"
	"| 413, 414, 431 | `limit`, `too_large`, `target_too_long`, `headers_too_large` |\n"
	"| 415 | `content_type`: the body must be `application/json` |\n"
	"| 422 | `hook_refused`: a hook refused the change; `idempotency_key_reused`: the key belongs to another request |\n"
	"| 428 | `precondition_required`: this server requires If-Match |\n"
	"| 429 | `quota_exceeded`: a daily limit; `Retry-After` ([accounts](accounts.md#limits)) |\n"
	"| 500, 507 | `corrupt`, `io`; `disk_full` |\n"
	"| 502 | `upstream`: the model's server failed |\n"
	"| 503 | `busy`, `out_of_memory`, `interrupted` |\n"
	"\n";

static const char events[] =
	"## Events\n"
	"\n"
	"`GET " RT_API_ROOT
	"/events` is a stream of server-sent events. Open it before you make the changes that you\n"
	"want to follow. Log events have an `id`. A client that reconnects with the last one (`Last-Event-ID`)\n"
	"receives every later log event once and in order, including changes by other processes. Other events\n"
	"have no id; a client that reconnects receives the current state instead.\n"
	"\n"
	"| event | data |\n"
	"|---|---|\n"
	"| `hello` | the first event: `seq`, `epoch`, `project`; its id is the start of the stream |\n"
	"| `op` | a row of the log, see below |\n"
	"| `reset` | the history of every project in the store was replaced (restore, purge): discard tags and texts and read everything again. The stream continues from the id of this event |\n"
	"| `newer` | the next row of the log needs a newer Retake: `seq`, `detail` |\n"
	"| `run.started` | a run has started: the run as returned by `GET " RT_API_ROOT
	"/runs/{run}`, without texts |\n"
	"| `run.asked` | `run`, `question`: the entry of the question |\n"
	"| `run.snapshot` | the run with its texts so far, for clients that connect during a run |\n"
	"| `run.notice` | `run`, `text`: a retry or a wait |\n"
	"| `run.delta` | `run`, `offset`, and `text`, `thinking` or `call` (with `block`): the text at this offset, in bytes of UTF-8 from the start of the text (or thinking); `reply` selects the reply if there are several |\n"
	"| `run.ended` | the run without texts, sent after the row of its entry. A client that reconnects later must read "
	"the run |\n"
	"| `flight` | a reply that another process is receiving: `flight`, `discussion`, `take`, `after` or `into`, `model`, `text` so far |\n"
	"| `flight.ended` | `flight`: the reply is now a row of the log |\n"
	"| `: ` | a comment every 15 s |\n"
	"\n"
	"An `op` event describes changes to lists of ids, for clients that keep these lists:\n"
	"\n"
	"```\n"
	"{\"seq\":42,\"kind\":\"step\",\"op\":\"entry.edit\",\"by\":\"http:ann\",\"at\":\"2026-11-21T20:35:40Z\",\n"
	" \"discussion\":\"d1\",\"discussions\":[\"d1\"],\"entries\":[\"k3f9\"],\"takes\":[\"d1/t1\"],\n"
	" \"splices\":[{\"discussion\":\"d1\",\"take\":\"t1\",\"at\":4,\"remove\":1,\"insert\":[\"k3f9\"]}]}\n"
	"```\n"
	"\n"
	"`kind` is `step`, `move` (undo, redo, jump), `view` or `note`. Apply `splices` in order: remove\n"
	"`remove` ids from position `at`, then add `insert`. A splice with `count` creates a take from the first\n"
	"`count` entries of another one (`from_take`, `from_discussion`). A splice with `present` adds the take\n"
	"to the catalogue or removes it. `entries` lists entries whose text, role, flags, label or view changed. `fields` lists other\n"
	"changes: `d1/head`, `project/setting.model`. With `\"whole\":true`, there are too many changes to\n"
	"list: read the discussions again.\n";

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
		rt_buf_add_c(buf, "\nAny other members become fields of the entry.\n");
	return count;
}

/* A path as a client could request it. */
static void
add_example_path(rt_buf *buf, const char *path)
{
	static const char *const examples[][2] = {
		{"discussion", "main"}, {"entry", ":4"},  {"at", ":4"},
		{"take", "t2"},         {"a", "t1"},      {"b", "t2"},
		{"label", "start"},     {"key", "model"}, {"role", "Reviewer"},
		{"which", "files"},     {"name", "mine"}, {"seq", "42"},
		{"op", "entry.append"}, {"run", "r3"},    {"user", "ann"},
		{"team", "editors"},    {"token", "12"},  {"invitation", "3"},
		{"link", "5"},          {"member", "ann"}, {"of", "user"},
		{"sha256", "$(sha256sum < plan.png | cut -c1-64)"}};
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
		{"entry.fail", "{\"failure\":{\"code\":\"upstream\",\"detail\":\"the server did not respond\"}}"},
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
		{"user.new", "{\"name\":\"ann\"}"},
		{"user.change", "{\"disabled\":true}"},
		{"user.token_new", "{\"name\":\"laptop\",\"scope\":\"read\"}"},
		{"token.new", "{\"name\":\"laptop\",\"scope\":\"read\"}"},
		{"invite.new", "{\"roles\":{\"thesis\":\"editor\"},\"days\":3}"},
		{"quota.set_users", "{\"requests\":200}"},
		{"quota.set", "{\"bytes\":500000000}"},
		{"member.set", "{\"role\":\"commenter\"}"},
		{"link.new", "{\"discussion\":\"main\",\"days\":7}"},
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
		rt_buf_add_c(buf, "\nNot available to a browser with a separate project.\n");
	add_params(buf, route->query, "Query:");
	if (op != NULL)
		(void)add_fields(buf, route, op, "Body:");
	add_params(buf, route->body, "Body:");
	if (route->flags & RT_ROUTE_FILE)
		rt_buf_add_c(buf,
			     "\n"
			     "Body: a file of any supported type, up to 1 GiB. From a browser "
			     "with a separate project: up to 64 MiB, 100,000 discussions and "
			     "1,000,000 entries. Larger files are refused with 413.\n");
	rt_buf_add_f(buf, "\nResponse: %s%s%s.\n", route->answer == NULL ? "a result" : shape->about,
		     shape->type != NULL && route->answer != NULL ? " as " : "",
		     shape->type != NULL && route->answer != NULL
			     ? (strcmp(shape->name, "File") == 0 ? "attachment" : shape->type)
			     : "");
	add_example(buf, route, op);
}

static void
add_operations(const rt_route *routes, rt_buf *buf)
{
	rt_buf_add_c(buf,
		     "\n## All operations\n\n"
		     "Every operation is available at `POST " RT_API_ROOT "/ops/NAME` and in a "
		     "batch. The fields are described in\n"
		     "[the contract](contract.md#operations).\n"
		     "\n"
		     "| operation | route |\n"
		     "|---|---|\n");
	for (const rt_route *route = routes; route->path != NULL; route++)
		if (route->op >= 0 && strcmp(route->name, rt_ops[route->op].name) == 0)
			rt_buf_add_f(buf, "| `%s`: %s | `%s %s` |\n", route->name, rt_ops[route->op].about,
				     rt_route_method(route->method), route->path);
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
