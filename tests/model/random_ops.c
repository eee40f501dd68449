/* SPDX-License-Identifier: MIT
 *
 * Random operations: one function for each part of a request. */
#include "random_ops.h"

uint64_t
random_next(random_ops *r)
{
	uint64_t x = (r->state += 0x9E3779B97F4A7C15u);

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

unsigned
random_below(random_ops *r, unsigned n)
{
	return n == 0 ? 0 : (unsigned)((random_next(r) >> 11) % n);
}

static bool
chance(random_ops *r, unsigned percent)
{
	return random_below(r, 100) < percent;
}

#define PICK(r, list) (list)[random_below((r), sizeof(list) / sizeof((list)[0]))]

typedef enum kind {
	APPEND,
	INSERT,
	EDIT,
	ROLE,
	FAIL,
	DELETE,
	DELETE_RUN,
	MOVE,
	MUTE,
	VIEW,
	SPLIT,
	MERGE,
	BRANCH,
	TAKE_SWITCH,
	TAKE_RENAME,
	TAKE_DELETE,
	PROMOTE,
	CLEAR,
	TRUNCATE,
	GRAFT,
	HEAD,
	LABEL,
	SETTING,
	ROLE_ADD,
	ROLE_REMOVE,
	PROMPT,
	NOTIFY,
	FILES,
	TRACK,
	PRESET_SAVE,
	PRESET_LOAD,
	PRESET_DELETE,
	DISC_NEW,
	DISC_SWITCH,
	DISC_RENAME,
	DISC_DELETE,
	EXTRACT,
	RESET,
	UNDO,
	REDO,
	JUMP,
	REVERT,
	PURGE,
	BROKEN,
	KINDS
} kind;

static const unsigned usual[KINDS] = {
	[APPEND] = 160,    [INSERT] = 60,      [EDIT] = 80,	  [ROLE] = 20,	     [FAIL] = 12, [DELETE] = 40,
	[DELETE_RUN] = 12, [MOVE] = 50,	       [MUTE] = 20,	  [VIEW] = 25,	     [SPLIT] = 30,
	[MERGE] = 25,	   [BRANCH] = 35,      [TAKE_SWITCH] = 25, [TAKE_RENAME] = 8, [TAKE_DELETE] = 10,
	[PROMOTE] = 8,	   [CLEAR] = 3,	       [TRUNCATE] = 5,	  [GRAFT] = 20,	     [HEAD] = 40,
	[LABEL] = 30,	   [SETTING] = 20,     [ROLE_ADD] = 6,	  [ROLE_REMOVE] = 5, [PROMPT] = 15,
	[NOTIFY] = 12,	   [FILES] = 12,       [TRACK] = 6,	  [PRESET_SAVE] = 6, [PRESET_LOAD] = 6,
	[PRESET_DELETE] = 3, [DISC_NEW] = 10,  [DISC_SWITCH] = 15, [DISC_RENAME] = 6, [DISC_DELETE] = 6,
	[EXTRACT] = 8,	   [RESET] = 2,	       [UNDO] = 110,	  [REDO] = 70,	     [JUMP] = 30,
	[REVERT] = 30,	   [PURGE] = 4,	       [BROKEN] = 15};

void
random_ops_init(random_ops *r, uint64_t seed)
{
	size_t i;

	*r = (random_ops){.state = seed * 0x2545F4914F6CDD1Du + 1, .limited = seed % 8 == 4};
	random_next(r);
	for (i = 0; i < KINDS; i++) {
		unsigned luck = random_below(r, 100);

		r->weights[i] = luck < 25 ? 0 : luck < 35 ? usual[i] * 5 : usual[i];
		if (i == APPEND && r->weights[i] == 0)
			r->weights[i] = usual[i] / 4;
		r->total += r->weights[i];
	}
	r->take_room = 4 + random_below(r, chance(r, 10) ? 200 : 20);
	r->pin_percent = chance(r, 50) ? random_below(r, 60) : 0;
}

/* ---- words ---- */

static const char *const words[] = {
	"",    "a",	"b",	  "hello", "the quick brown fox", "h\xc3\xa9llo", "\xe6\xbc\xa2\xe5\xad\x97",
	"\xf0\x9f\x98\x80", "e\xcc\x81", "\r\n",  "\n",    "\t",		  "\"quoted\"",   "back\\slash",
	" ",   "\x1f",	"\x7f",	  "</script>", "\xe2\x80\xa8", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbd", "0"};

static void
add_text(random_ops *r, rt_buf *out)
{
	rt_buf text;
	unsigned n = random_below(r, 5), i;

	rt_buf_init(&text, rt_alloc_libc(), RT_BUF_UNLIMITED);
	for (i = 0; i < n; i++) {
		rt_buf_add_c(&text, PICK(r, words));
		if (chance(r, 5))
			rt_buf_add_byte(&text, '\0');
	}
	if (chance(r, 2))
		for (i = 0; i < 200; i++)
			rt_buf_add_c(&text, PICK(r, words));
	rt_json_add_string(out, rt_buf_str(&text));
	rt_buf_deinit(&text);
}

static void
add_content(random_ops *r, rt_buf *out)
{
	static const char *const blocks[] = {
		"[]", "[{\"text\":\"a\",\"type\":\"text\"}]",
		"[{\"data\":\"\",\"n\":1.10,\"type\":\"image\"},{\"text\":\"h\xc3\xa9\",\"type\":\"text\"}]",
		"[{\"text\":\"one\",\"textSignature\":\"s\",\"type\":\"text\"},"
		"{\"data\":\"\",\"type\":\"image\"},\"two\",\"three\"]"};

	if (chance(r, 4))
		rt_buf_add_c(out, PICK(r, blocks));
	else
		add_text(r, out);
}

static const char *const roles[] = {"User", "user", "AI",     "System",	   "Vendor API",
				    "Tool", "USER", "r\n",    "assistant", "\xc3\x84rger"};
static const char *const take_names[] = {"main", "main_take_1", "main_take_2", "alt",
					 "x_take_y_take_1", "_take_", "t1", "t3", "\xce\xb2", "Zed"};
static const char *const disc_names[] = {"main", "other", "d1", "d2", "z", "a_take_3", "Main",
					 "\xce\xb2", "spare room"};
static const char *const labels[] = {"x", "y", "todo", "K", "@", ":1", "two words", "h\xc3\xa9", "0",
				     "Kaa"};

static void
key(rt_buf *out, const char *name)
{
	rt_json_add_key(out, name);
}

static void
text_field(rt_buf *out, const char *name, const char *text)
{
	key(out, name);
	rt_json_add_string(out, rt_str_of(text));
}

static void
begin(rt_buf *out, const char *op)
{
	rt_buf_add_byte(out, '{');
	text_field(out, "op", op);
}

static void
number_field(rt_buf *out, const char *name, int64_t number)
{
	key(out, name);
	rt_buf_add_i64(out, number);
}

/* ---- places and addresses ---- */

typedef struct place {
	int doc;
	const model_disc *disc;
	size_t take;
	bool disc_given, take_given;
} place;

static void
add_disc_name(random_ops *r, const model *m, int doc, rt_buf *out)
{
	rt_str name = model_name_of(m, doc);

	if (name.size == 0 || chance(r, 15))
		rt_buf_add_f(out, "\"d%d\"", doc);
	else
		rt_json_add_string(out, name);
}

static int
any_doc(random_ops *r, const model *m)
{
	const model_project *p = model_project_of(m);

	if (chance(r, 3) && !r->cautious)
		return 1 + (int)random_below(r, (unsigned)m->doc_count - 1);
	return p->cells[random_below(r, (unsigned)p->cell_count)].number;
}

/* Some name, perhaps of no take; never the id of a deleted take, which would be allowed (C29)
 * but which the model has forgotten. */
static void
add_any_take_name(random_ops *r, const model_disc *d, rt_buf *out)
{
	const char *name = PICK(r, take_names);
	size_t i;

	for (i = 0; i < d->take_count; i++)
		if (rt_str_is(d->takes[i].name, name))
			break;
	if (i == d->take_count && name[0] == 't')
		name = "no such take";
	rt_json_add_string(out, rt_str_of(name));
}

static void
add_take_name(random_ops *r, const model_take *take, rt_buf *out)
{
	if (chance(r, 15))
		rt_buf_add_f(out, "\"t%d\"", take->number);
	else
		rt_json_add_string(out, take->name);
}

/* The place where a request works; named in the request or not. no_take: the field means
 * something else. */
static place
add_place(random_ops *r, const model *m, rt_buf *out, bool no_take)
{
	place p = {.doc = model_project_of(m)->active};

	if (chance(r, r->pin_percent)) {
		p.disc_given = true;
		p.doc = any_doc(r, m);
		key(out, "discussion");
		if (chance(r, 2))
			rt_json_add_string(out, rt_str_of(PICK(r, disc_names)));
		else
			add_disc_name(r, m, p.doc, out);
	}
	p.disc = model_disc_of(m, p.doc);
	p.take = p.disc->active;
	if (!no_take && chance(r, r->pin_percent)) {
		p.take_given = true;
		p.take = random_below(r, (unsigned)p.disc->take_count);
		key(out, "take");
		if (chance(r, 2))
			add_any_take_name(r, p.disc, out);
		else
			add_take_name(r, &p.disc->takes[p.take], out);
	}
	return p;
}

static void
add_address_in(random_ops *r, const model *m, const place *p, size_t take_index, rt_buf *out)
{
	static const char *const odd[] = {"nope", ":0", ":", ":x", "@@", ":-0", ":99", ":-99", "Q", ":1x"};
	const model_take *take = &p->disc->takes[take_index];
	unsigned luck = random_below(r, 100);
	rt_str id = {NULL, 0};

	if (luck < 6) {
		rt_json_add_string(out, RT_STR("@"));
		return;
	}
	if (luck < 26) {
		unsigned n = 1 + random_below(r, (unsigned)take->count + chance(r, 5));

		rt_buf_add_f(out, chance(r, 40) ? "\":-%u\"" : "\":%u\"", n);
		return;
	}
	if (luck < 29) {
		rt_json_add_string(out, rt_str_of(PICK(r, odd)));
		return;
	}
	if (luck < 36 && p->disc->label_count > 0) {
		rt_json_add_string(
			out, p->disc->labels[random_below(r, (unsigned)p->disc->label_count)].text);
		return;
	}
	if (luck < 44) { /* in some take */
		const model_take *other =
			&p->disc->takes[random_below(r, (unsigned)p->disc->take_count)];

		if (other->count > 0)
			id = m->entities[other->slots[random_below(r, (unsigned)other->count)].entity].id;
	} else if (luck < 49 && m->docs[p->doc].known_count > 0) { /* perhaps removed */
		const model_doc *doc = &m->docs[p->doc];

		id = m->entities[doc->known[random_below(r, (unsigned)doc->known_count)]].id;
	}
	if (id.size == 0 && take->count > 0)
		id = m->entities[take->slots[random_below(r, (unsigned)take->count)].entity].id;
	if (id.size == 0)
		id = chance(r, 50) ? RT_STR("@") : RT_STR("gone");
	else if (chance(r, 10) && (!r->cautious || id.ptr[0] == 'K'))
		id.size = 1 + random_below(r, (unsigned)id.size);
	rt_json_add_string(out, id);
}

static void
add_address(random_ops *r, const model *m, const place *p, const char *name, rt_buf *out)
{
	key(out, name);
	add_address_in(r, m, p, p->take, out);
}

static void
add_gap(random_ops *r, const model *m, const place *p, rt_buf *out)
{
	add_address(r, m, p, chance(r, 50) ? "before" : "after", out);
	if (chance(r, 2))
		add_address(r, m, p, "before", out);
}

/* ---- fields of entries ---- */

static void
add_id(random_ops *r, const model *m, int doc, rt_buf *out)
{
	static const char *const odd[] = {"", "with space", "sl/ash", "\xc3\xa9", "_~.-", "KKKKKKKKKKKKKKKKKKKKKKKK"};
	static const char digits[] = "abcd";
	unsigned luck = random_below(r, 100), i;
	char id[8] = "K";

	if (luck < 40)
		return;
	key(out, "id");
	if (luck < 43) {
		rt_json_add_string(out, rt_str_of(PICK(r, odd)));
	} else if (luck < 47 && m->docs[doc].known_count > 0) {
		unsigned at = random_below(r, (unsigned)m->docs[doc].known_count);

		rt_json_add_string(out, m->entities[m->docs[doc].known[at]].id);
	} else { /* counted in base four, least significant digit first: long common prefixes are
		  * rare */
		unsigned n = r->fresh++;

		for (i = 1; i < 7; i++) {
			id[i] = digits[n % 4];
			n /= 4;
			if (n == 0)
				break;
		}
		rt_json_add_string(out, rt_str_of(id));
	}
}

static void
add_ts(random_ops *r, rt_buf *out)
{
	static const char *const moments[] = {
		"\"2026-01-01T00:00:00Z\"",	 "\"2026-01-02T03:04:05.678Z\"", "\"2026-03-04\"",
		"\"2025-12-31T23:59:59+01:00\"", "1767225600",			 "1767225600123",
		"\"2026-01-01T00:00:00.000001Z\"", "\"1969-12-31T23:59:59Z\""};
	static const char *const bad[] = {"\"yesterday\"", "\"\"", "null", "true"};

	if (chance(r, 50))
		return;
	key(out, "ts");
	rt_buf_add_c(out, chance(r, 2) ? PICK(r, bad) : PICK(r, moments));
}

static void
add_extra(random_ops *r, rt_buf *out)
{
	static const char *const fields[] = {
		"\"usage\":{\"input_tokens\":12345678901234567890123,\"output_tokens\":1.10}",
		"\"thinking_segments\":[{\"content\":\"hm\",\"marker\":\"thinking\"}]",
		"\"zeta\":null",
		"\"alpha\":[1,\"\xf0\x9f\x98\x80\",{}]",
		"\"Content\":\"not content\"",
		"\"\":0",
		"\"x\":false"};

	while (chance(r, 8)) {
		rt_json_add_comma(out);
		rt_buf_add_c(out, PICK(r, fields));
	}
}

static void
add_entry_fields(random_ops *r, const model *m, int doc, rt_buf *out)
{
	static const char *const kinds[] = {"message", "custom", "compaction", "branch_summary", "tool"};

	if (chance(r, 80))
		text_field(out, "role", chance(r, 2) ? "" : PICK(r, roles));
	if (chance(r, 92)) {
		key(out, "content");
		add_content(r, out);
	}
	if (chance(r, 8))
		text_field(out, "kind", PICK(r, kinds));
	add_id(r, m, doc, out);
	add_ts(r, out);
	add_extra(r, out);
}

/* ---- whole requests ---- */

static void
add_value(random_ops *r, rt_buf *out)
{
	static const char *const values[] = {"null",	"0.7",	"1",   "\"gpt\"", "true",
					     "[1,2]",	"{\"a\":{\"b\":[]}}", "12345678901234567890123",
					     "\"\"",	"8192", "0.70", "false"};

	rt_buf_add_c(out, PICK(r, values));
}

static void
add_list(random_ops *r, rt_buf *out)
{
	static const char *const lists[] = {"[]", "[\"a.c\"]", "[\"a.c\",\"b.c\"]",
					    "[{\"path\":\"x\",\"view\":\"full\"}]", "[1.0]"};

	rt_buf_add_c(out, PICK(r, lists));
}

static void
add_broken(random_ops *r, rt_buf *out)
{
	static const char *const lines[] = {
		"{\"op\":\"entry.nope\"}",
		"{\"op\":7}",
		"{}",
		"[]",
		"{\"op\":\"entry.append\"",
		"{\"op\":\"entry.append\",\"content\":7}",
		"{\"op\":\"entry.append\",\"content\":null}",
		"{\"op\":\"entry.append\",\"content\":{}}",
		"{\"op\":\"entry.append\",\"role\":\"\"}",
		"{\"op\":\"entry.append\",\"role\":1}",
		"{\"op\":\"entry.append\",\"content\":\"\\ud800\"}",
		"{\"op\":\"entry.append\",\"content\":\"\xff\"}",
		"{\"op\":\"entry.append\",\"discussion\":7}",
		"{\"op\":\"entry.append\",\"take\":[]}",
		"{\"op\":\"entry.append\",\"discussion\":\"no such\"}",
		"{\"op\":\"entry.append\",\"take\":\"no such\"}",
		"{\"op\":\"entry.insert\",\"content\":\"x\"}",
		"{\"op\":\"entry.edit\",\"entry\":\"@\"}",
		"{\"op\":\"entry.edit\",\"content\":\"x\"}",
		"{\"op\":\"entry.edit\",\"entry\":1,\"content\":\"x\"}",
		"{\"op\":\"entry.delete\"}",
		"{\"op\":\"entry.delete\",\"from\":\":1\"}",
		"{\"op\":\"entry.view\",\"entry\":\":1\",\"collapsed\":1}",
		"{\"op\":\"entry.mute\",\"entry\":\":1\",\"muted\":\"yes\"}",
		"{\"op\":\"entry.split\",\"entry\":\":1\",\"at\":-1}",
		"{\"op\":\"entry.split\",\"entry\":\":1\",\"at\":1.5}",
		"{\"op\":\"entry.split\",\"entry\":\":1\"}",
		"{\"op\":\"head.move\"}",
		"{\"op\":\"label.set\",\"entry\":\":1\"}",
		"{\"op\":\"setting.set\",\"key\":\"model\"}",
		"{\"op\":\"setting.set\",\"value\":1}",
		"{\"op\":\"role.add\",\"role\":\"  \"}",
		"{\"op\":\"files.set\",\"which\":\"others\",\"items\":[]}",
		"{\"op\":\"files.set\",\"which\":\"files\",\"items\":\"a\"}",
		"{\"op\":\"undo\",\"count\":0}",
		"{\"op\":\"undo\",\"count\":-1}",
		"{\"op\":\"redo\",\"count\":\"one\"}",
		"{\"op\":\"undo\",\"scope\":\"all\"}",
		"{\"op\":\"jump\"}",
		"{\"op\":\"jump\",\"to\":-1}",
		"{\"op\":\"jump\",\"to\":1,\"scope\":\"all\"}",
		"{\"op\":\"revert\"}",
		"{\"op\":\"take.switch\"}",
		"{\"op\":\"take.switch\",\"take\":\"no such\"}",
		"{\"op\":\"take.truncate\",\"pairs\":-1}",
		"{\"op\":\"discussion.new\"}",
		"{\"op\":\"discussion.new\",\"name\":\"\"}",
		"{\"op\":\"discussion.switch\",\"discussion\":\"no such\"}",
	};

	rt_buf_add_c(out, PICK(r, lines));
}

/* A step's number, mostly a recent one. A non-existing one is not the next one either, which an
 * earlier request of its batch may create. */
static int64_t
any_seq(random_ops *r, const model *m)
{
	if (m->step_count == 0 || chance(r, 6)) {
		int64_t seq = (int64_t)random_below(r, (unsigned)m->seq + 3);

		return seq <= (int64_t)m->seq ? seq : seq + 1000;
	}
	if (chance(r, 70)) {
		unsigned n = m->step_count < 12 ? (unsigned)m->step_count : 12;

		return (int64_t)m->steps[m->step_count - 1 - random_below(r, n)].seq;
	}
	return (int64_t)m->steps[random_below(r, (unsigned)m->step_count)].seq;
}

/* Number of a step that the model can revert. */
static int64_t
revertible_seq(random_ops *r, const model *m)
{
	for (int i = 0; i < 20; i++) {
		int64_t seq = any_seq(r, m);

		if (model_can_revert(m, (uint64_t)seq))
			return seq;
	}
	return (int64_t)m->seq + 9;
}

static void
add_count(random_ops *r, rt_buf *out)
{
	if (chance(r, 35))
		number_field(out, "count", chance(r, 5) ? 1000 : 1 + (int64_t)random_below(r, 6));
	if (chance(r, 12))
		text_field(out, "scope", chance(r, 50) ? "discussion" : "project");
}

void
random_ops_one_kind(random_ops *r)
{
	static const kind kinds[] = {APPEND, INSERT, EDIT,    ROLE,  DELETE, DELETE_RUN,
				     MUTE,   LABEL,  SETTING, FILES, PROMPT, ROLE_ADD, FAIL};

	r->only = 1 + (int)PICK(r, kinds);
}

void
random_ops_any_kind(random_ops *r)
{
	r->only = 0;
}

static kind
any_kind(random_ops *r, const model *m)
{
	const model_project *p = model_project_of(m);
	const model_disc *d = model_disc_of(m, p->active);
	unsigned luck;
	size_t i;

	if (r->only == 0 && chance(r, 15)) { /* keep the project small */
		if (d->takes[d->active].count > r->take_room)
			return chance(r, 50) ? TRUNCATE : chance(r, 60) ? DELETE_RUN : CLEAR;
		if (d->take_count > 7)
			return chance(r, 80) ? TAKE_DELETE : PROMOTE;
		if (p->cell_count > 5)
			return chance(r, 90) ? DISC_DELETE : RESET;
	}
	if (r->only > 0)
		return (kind)(r->only - 1);
	luck = random_below(r, r->total);
	for (i = 0; i < KINDS; i++) {
		if (luck < r->weights[i])
			return (kind)i;
		luck -= r->weights[i];
	}
	return APPEND;
}

void
random_ops_make(random_ops *r, const model *m, rt_buf *out)
{
	static const char *const keys[] = {"draft",	     "temperature",	     "top_p",
					   "max_tokens",     "model",		     "edit_notices",
					   "auto_add_history", "project_system_prompt", "x.y", "title", "odd key"};
	static const char *const lists[] = {"files", "context_files", "screenshots"};
	kind k = any_kind(r, m);
	place p;
	unsigned i, n;

	if (r->cautious && (k == PURGE || ((k == UNDO || k == REDO || k == JUMP) && chance(r, 95)) ||
			    (k == GRAFT && r->grafted)))
		k = APPEND;
	r->grafted = r->grafted || k == GRAFT;
	switch (k) {
	case APPEND:
		begin(out, "entry.append");
		p = add_place(r, m, out, false);
		add_entry_fields(r, m, p.doc, out);
		if (chance(r, 4)) {
			key(out, "prompt");
			add_text(r, out);
		}
		break;
	case INSERT:
		begin(out, "entry.insert");
		p = add_place(r, m, out, false);
		add_gap(r, m, &p, out);
		add_entry_fields(r, m, p.doc, out);
		break;
	case EDIT:
		begin(out, "entry.edit");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		key(out, "content");
		if (chance(r, 20)) { /* the text of an array with several texts, or similar */
			static const char *const near[] = {
				"\"one\\ntwo\\nthree\"", "\"one\\nTWO\\nthree\"",
				"\"one\\nthree\"",       "\"two\\nthree\"",
				"\"\\ntwo\\nthree\"",    "\"one\\n\""};

			rt_buf_add_c(out, PICK(r, near));
		} else {
			add_content(r, out);
		}
		if (chance(r, 40)) {
			key(out, "keep_blocks");
			rt_buf_add_c(out, chance(r, 90) ? "true" : "false");
		}
		if (chance(r, 25)) {
			key(out, "everywhere");
			rt_buf_add_c(out, chance(r, 90) ? "true" : "false");
		}
		break;
	case ROLE:
		begin(out, "entry.role");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		text_field(out, "role", PICK(r, roles));
		break;
	case FAIL:
		begin(out, "entry.fail");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		key(out, "failure");
		rt_buf_add_c(out, chance(r, 40)  ? "null"
				  : chance(r, 4) ? "{\"code\":\"busy\"}"
				  : chance(r, 50)
					  ? "{\"code\":\"busy\",\"detail\":\"the server is busy\"}"
					  : "{\"code\":\"io\",\"detail\":\"\",\"model\":\"a/b\"}");
		break;
	case DELETE:
		begin(out, "entry.delete");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		break;
	case DELETE_RUN:
		begin(out, "entry.delete");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "from", out);
		add_address(r, m, &p, "to", out);
		break;
	case MOVE:
		begin(out, "entry.move");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		add_gap(r, m, &p, out);
		break;
	case MUTE:
		begin(out, "entry.mute");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		if (chance(r, 80)) {
			key(out, "muted");
			rt_buf_add_c(out, chance(r, 50) ? "true" : "false");
		}
		break;
	case VIEW:
		begin(out, "entry.view");
		p = add_place(r, m, out, false);
		if (chance(r, 70)) {
			add_address(r, m, &p, "entry", out);
		} else {
			key(out, "all");
			rt_buf_add_c(out, "true");
		}
		n = random_below(r, 8);
		if (n < 5) {
			key(out, "collapsed");
			rt_buf_add_c(out, chance(r, 60) ? "true" : "false");
		}
		if (n > 3) {
			key(out, "read_mode");
			rt_buf_add_c(out, chance(r, 60) ? "true" : "false");
		}
		break;
	case SPLIT:
		begin(out, "entry.split");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		number_field(out, "at", random_below(r, chance(r, 80) ? 6 : 40));
		if (chance(r, 40))
			add_id(r, m, p.doc, out);
		break;
	case MERGE:
		begin(out, "entry.merge");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		break;
	case BRANCH:
		begin(out, "take.branch");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "at", out);
		if (chance(r, 25))
			text_field(out, "name", chance(r, 4) ? "" : PICK(r, take_names));
		break;
	case TAKE_SWITCH:
	case TAKE_DELETE:
	case TAKE_RENAME:
	case PROMOTE:
		begin(out, k == TAKE_SWITCH   ? "take.switch"
			   : k == TAKE_DELETE ? "take.delete"
			   : k == TAKE_RENAME ? "take.rename"
					      : "take.promote");
		p = add_place(r, m, out, true);
		key(out, "take");
		if (chance(r, 5))
			add_any_take_name(r, p.disc, out);
		else
			add_take_name(r, &p.disc->takes[random_below(r, (unsigned)p.disc->take_count)],
				      out);
		if (k == TAKE_RENAME)
			text_field(out, "name", chance(r, 3) ? "" : PICK(r, take_names));
		if (k == PROMOTE)
			text_field(out, "name", chance(r, 3) ? "" : PICK(r, disc_names));
		break;
	case CLEAR:
		begin(out, "take.clear");
		add_place(r, m, out, false);
		if (chance(r, 40)) {
			key(out, "all");
			rt_buf_add_c(out, chance(r, 80) ? "true" : "false");
		}
		break;
	case TRUNCATE:
		begin(out, "take.truncate");
		add_place(r, m, out, false);
		number_field(out, "pairs", random_below(r, 4));
		break;
	case GRAFT:
		begin(out, "take.graft");
		p = add_place(r, m, out, false);
		n = random_below(r, (unsigned)p.disc->take_count);
		key(out, "from");
		rt_json_add_string(out, p.disc->takes[n].name);
		key(out, "entries");
		rt_buf_add_byte(out, '[');
		for (i = chance(r, 3) ? 0 : 1 + random_below(r, 3); i > 0; i--) {
			rt_json_add_comma(out);
			add_address_in(r, m, &p, n, out);
		}
		rt_buf_add_byte(out, ']');
		add_gap(r, m, &p, out);
		break;
	case HEAD:
		begin(out, "head.move");
		p = add_place(r, m, out, false);
		if (chance(r, 15)) {
			key(out, "entry");
			rt_buf_add_c(out, "null");
		} else {
			add_address(r, m, &p, "entry", out);
		}
		break;
	case LABEL:
		begin(out, "label.set");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		key(out, "label");
		if (chance(r, 15))
			rt_buf_add_c(out, "null");
		else
			rt_json_add_string(out, chance(r, 10) ? RT_STR("") : rt_str_of(PICK(r, labels)));
		break;
	case SETTING:
		begin(out, "setting.set");
		add_place(r, m, out, false);
		if (r->limited && chance(r, 40)) {
			text_field(out, "key", "undo_capacity");
			number_field(out, "value", random_below(r, 8));
			break;
		}
		text_field(out, "key", PICK(r, keys));
		key(out, "value");
		add_value(r, out);
		break;
	case ROLE_ADD:
		begin(out, "role.add");
		text_field(out, "role", chance(r, 20) ? " \t Padded \n" : PICK(r, roles));
		break;
	case ROLE_REMOVE:
		begin(out, "role.remove");
		text_field(out, "role", PICK(r, roles));
		break;
	case PROMPT:
		begin(out, "prompt.update");
		add_place(r, m, out, false);
		key(out, "text");
		add_text(r, out);
		break;
	case NOTIFY:
		begin(out, "prompt.notify");
		p = add_place(r, m, out, false);
		if (chance(r, 30))
			add_id(r, m, p.doc, out);
		break;
	case FILES:
		begin(out, "files.set");
		add_place(r, m, out, false);
		text_field(out, "which", PICK(r, lists));
		key(out, "items");
		add_list(r, out);
		break;
	case TRACK:
		begin(out, "track.set");
		add_place(r, m, out, false);
		key(out, "track");
		rt_buf_add_c(out, chance(r, 30) ? "null" : chance(r, 50) ? "\"t-1\"" : "\"other\"");
		break;
	case PRESET_SAVE:
	case PRESET_LOAD:
	case PRESET_DELETE:
		begin(out, k == PRESET_SAVE   ? "preset.save"
			   : k == PRESET_LOAD ? "preset.load"
					      : "preset.delete");
		add_place(r, m, out, false);
		text_field(out, "name", chance(r, 3) ? "" : chance(r, 50) ? "p" : "q");
		break;
	case DISC_NEW:
		begin(out, "discussion.new");
		text_field(out, "name", PICK(r, disc_names));
		break;
	case DISC_SWITCH:
	case DISC_DELETE:
	case DISC_RENAME:
		begin(out, k == DISC_SWITCH   ? "discussion.switch"
			   : k == DISC_DELETE ? "discussion.delete"
					      : "discussion.rename");
		key(out, "discussion");
		if (chance(r, 5))
			rt_json_add_string(out, rt_str_of(PICK(r, disc_names)));
		else
			add_disc_name(r, m, any_doc(r, m), out);
		if (k == DISC_RENAME)
			text_field(out, "name", chance(r, 3) ? "" : PICK(r, disc_names));
		break;
	case EXTRACT:
		begin(out, "discussion.extract");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		if (chance(r, 60))
			text_field(out, "name", PICK(r, disc_names));
		break;
	case RESET: begin(out, "project.reset"); break;
	case UNDO:
		begin(out, "undo");
		add_place(r, m, out, false);
		add_count(r, out);
		break;
	case REDO:
		begin(out, "redo");
		add_place(r, m, out, false);
		add_count(r, out);
		break;
	case JUMP:
		begin(out, "jump");
		add_place(r, m, out, false);
		number_field(out, "to",
			     chance(r, 5)    ? 0
			     : chance(r, 30) ? (int64_t)random_below(r, (unsigned)m->seq + 2)
					     : any_seq(r, m));
		if (chance(r, 15))
			text_field(out, "scope", chance(r, 50) ? "discussion" : "project");
		break;
	case REVERT:
		begin(out, "revert");
		add_place(r, m, out, false);
		number_field(out, "seq", revertible_seq(r, m));
		break;
	case PURGE:
		begin(out, "purge");
		p = add_place(r, m, out, false);
		add_address(r, m, &p, "entry", out);
		break;
	case BROKEN:
	case KINDS:
	default: add_broken(r, out); return;
	}
	rt_buf_add_byte(out, '}');
}
