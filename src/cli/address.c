/* SPDX-License-Identifier: MIT
 *
 * Addresses of entries as typed by users, and suggestions for those that match none. */
#include "cli/cli.h"
#include "core/role.h"

#include <stdlib.h>

const char *
rt_cli_id_at(rt_cli *cli, size_t at)
{
	char *id = rt_scope_get(&cli->s, RT_ID_MAX + 1);
	const rt_take *take = rt_cli_take(cli);
	rt_slot slot;

	if (take != NULL)
		RT_TRY(&cli->s, rt_seq_get(take->slots, at, &slot, &cli->s.error));
	RT_TRY(&cli->s, rt_entry_id(cli->session.value, slot.entry, id, &cli->s.error));
	return rt_ok(&cli->s) ? id : "";
}

/* "@-N": N entries before the head. */
static rt_str
before_head(rt_cli *cli, const char *address, uint64_t back)
{
	uint32_t take = cli->session.place.take;
	const rt_disc *disc = rt_cli_disc(cli);
	size_t at = 0;

	if (disc != NULL)
		RT_TRY(&cli->s, rt_disc_head_at(cli->session.value, disc, &at, &cli->s.error));
	if (!rt_ok(&cli->s))
		return rt_str_of(NULL);
	/* The head is after entry at - 1 of the active take. */
	if (at < 1 || back > at - 1) {
		rt_cli_fail(cli, RT_NOT_FOUND, "there is no entry %s: the head is after entry %zu",
			    address, at == 0 ? at : at - 1);
		return rt_str_of(NULL);
	}
	cli->session.place.take = disc->active;
	const char *id = rt_cli_id_at(cli, at - 1 - back);

	cli->session.place.take = take;
	return rt_str_of(id);
}

/* "3" may begin an id, but a person who types it probably means the third entry: an address that
 * can be a position and is not the whole id or the label of another entry is refused. The rule is
 * about typing and therefore not in core/address.h: over HTTP and in requests, digits are the
 * beginning of an id, as the contract documents (C20). */
static void
check_digits(rt_cli *cli, const char *address)
{
	enum { DIGITS_MAX = 3 };
	const rt_project *value = cli->session.value;
	size_t size = strlen(address), count;
	const rt_disc *disc = NULL;
	char id[RT_ID_MAX + 1];
	uint32_t entry = 0;
	rt_error ignored;
	rt_str label = {NULL, 0};

	if (size == 0 || size > DIGITS_MAX || strspn(address, "0123456789") != size ||
	    value == NULL || !rt_ok(&cli->s))
		return;
	count = rt_cli_count(cli);
	if (address[0] == '0' || strtoul(address, NULL, 10) > count ||
	    rt_resolve_entry(value, cli->session.place, rt_str_of(address), false, &entry, &ignored) !=
		    RT_OK ||
	    rt_entry_id(value, entry, id, &ignored) != RT_OK || strcmp(id, address) == 0 ||
	    rt_project_disc(value, cli->session.place.disc, &disc, &ignored) != RT_OK ||
	    rt_disc_label(value, disc, entry, &label, &ignored) != RT_OK ||
	    rt_str_is(label, address))
		return;
	rt_cli_hint(cli, "The position: :%s   The entry: %s", address, id);
	rt_cli_fail(cli, RT_AMBIGUOUS, "\"%s\" is the beginning of the id %s, but may also mean the "
				       "position :%s", address, id, address);
}

rt_str
rt_cli_address(rt_cli *cli, const char *address)
{
	check_digits(cli, address);
	if (address[0] != '@' || address[1] != '-')
		return rt_str_of(address);
	return before_head(cli, address,
			   address[2] == 0
				   ? 1
				   : rt_cli_number(cli, address + 2, "number of entries before the head"));
}

/* ---- short ids ---- */

enum {
	SHORT_ID = 8,
	WHOLE_ID = 12,         /* up to this size, ids are not shortened */
	SHORT_IDS_MAX = 200000 /* in a larger project ids are not shortened: they would all be read */
};

static int
by_text(const void *a, const void *b)
{
	return rt_str_cmp(*(const rt_str *)a, *(const rt_str *)b);
}

/* The ids that are stored; the others are short. */
static void
read_ids(rt_cli *cli)
{
	const rt_strs *ids = cli->session.value->ledger->ids;
	size_t count = rt_strs_count(ids);
	rt_str *items = count > SHORT_IDS_MAX ? NULL : rt_scope_array(&cli->s, count + 1, sizeof(*items));

	for (uint32_t i = 0; items != NULL && rt_ok(&cli->s) && i < count; i++)
		RT_TRY(&cli->s, rt_strs_get(ids, i + 1, &items[i], &cli->s.error));
	if (items == NULL || !rt_ok(&cli->s))
		return;
	if (count > 1)
		qsort(items, count, sizeof(*items), by_text);
	cli->ids = items;
	cli->id_count = count;
}

static size_t
common_size(rt_str a, rt_str b)
{
	size_t size = 0;

	while (size < a.size && size < b.size && a.ptr[size] == b.ptr[size])
		size++;
	return size;
}

rt_str
rt_cli_short_id(rt_cli *cli, rt_str id)
{
	size_t size = SHORT_ID, at;
	const rt_str *found;

	if (id.size <= WHOLE_ID || cli->session.value == NULL || !rt_ok(&cli->s))
		return id;
	if (cli->ids == NULL)
		read_ids(cli);
	found = cli->ids == NULL || cli->id_count == 0
			? NULL
			: bsearch(&id, cli->ids, cli->id_count, sizeof(id), by_text);
	if (found == NULL)
		return id;
	at = (size_t)(found - cli->ids);
	if (at > 0 && size <= common_size(id, found[-1]))
		size = common_size(id, found[-1]) + 1;
	if (at + 1 < cli->id_count && size <= common_size(id, found[1]))
		size = common_size(id, found[1]) + 1;
	/* The abbreviation could be a generated id, which has priority. */
	size += size == SHORT_ID && rt_id_number(cli->session.value->ledger->salt, rt_str_at(id.ptr, size)) != 0;
	return rt_str_at(id.ptr, size < id.size ? size : id.size);
}

/* ---- entries that were not found ---- */

uint32_t
rt_cli_find_elsewhere(const rt_cli *cli, rt_str id)
{
	const rt_project *value = cli->session.value;
	char whole[RT_ID_MAX + 1];
	rt_error ignored;

	if (id.size == 0 || id.ptr[0] == ':' || id.ptr[0] == '@')
		return 0;
	for (uint32_t i = 1; i <= rt_project_disc_count(value); i++) {
		const rt_cell *cell = rt_project_cell(value, i);
		uint32_t entry = 0;

		if (cell == NULL || !cell->present || i == cli->session.place.disc ||
		    rt_resolve_entry(value, (rt_place){i, 0}, id, true, &entry, &ignored) != RT_OK ||
		    rt_entry_id(value, entry, whole, &ignored) != RT_OK ||
		    !(rt_str_is(id, whole) || (id.size >= SHORT_ID && rt_str_starts(rt_str_of(whole), id))))
			continue;
		return i;
	}
	return 0;
}

void
rt_cli_hint_entry(rt_cli *cli, const char *address, const rt_error *error)
{
	const rt_disc *disc = NULL;
	bool is_go = strcmp(cli->args.command->name, "go") == 0;
	size_t size = strspn(address, "0123456789");

	/* A label is complete; completing it further would not help. */
	if (error->about == RT_ABOUT_LABEL)
		rt_cli_hint(cli, "Name one by its id. Labels: retake label");
	if (error->status != RT_NOT_FOUND ||
	    rt_project_disc(cli->session.value, cli->session.place.disc, &disc, NULL) != RT_OK)
		return;

	uint32_t elsewhere = rt_cli_find_elsewhere(cli, rt_str_of(address));

	if (elsewhere != 0) {
		rt_str name = rt_cell_name(rt_project_cell(cli->session.value, elsewhere));
		rt_buf word, quoted;

		rt_buf_init(&word, cli->alloc, 4096);
		rt_buf_init(&quoted, cli->alloc, 4096);
		rt_buf_add_str(&word, name);
		if (word.ptr != NULL)
			rt_args_add_quoted(&quoted, word.ptr);
		if (quoted.ptr != NULL)
			rt_cli_hint(cli,
				    is_go ? "It is in discussion \"%.200s\": retake use %.300s, then: retake go %s"
					  : "It is in discussion \"%.200s\": retake -d %.300s show %s",
				    word.ptr, quoted.ptr, address);
		rt_buf_deinit(&word);
		rt_buf_deinit(&quoted);
	} else if (rt_disc_take_named(disc, rt_str_of(address)) != 0) {
		rt_cli_hint(cli, "That is a take. Switch to it: retake takes switch %s   Merge its "
				 "conclusions: retake merge-take %s",
			    address, address);
	} else if (size > 0 && address[size] == '-' && address[size + 1] != 0 &&
		   strspn(address + size + 1, "0123456789") == strlen(address + size + 1)) {
		rt_cli_hint(cli, "A range: :%.*s..:%.20s", (int)size, address, address + size + 1);
	} else if (size > 0 && address[size] == 0) {
		rt_cli_hint(cli, "Positions begin with a colon: :%s   Entries: retake show",
			    address);
	}
}

uint32_t
rt_cli_entry(rt_cli *cli, const char *address, bool is_whole)
{
	rt_str plain = rt_cli_address(cli, address);
	uint32_t entry = 0;

	if (!rt_ok(&cli->s))
		return 0;
	if (rt_scope_note(&cli->s, rt_resolve_entry(cli->session.value, cli->session.place, plain,
						    is_whole, &entry, &cli->s.error)) != RT_OK)
		rt_cli_hint_entry(cli, address, &cli->s.error);
	return entry;
}

size_t
rt_cli_position(rt_cli *cli, const char *address, rt_slot *out_slot)
{
	uint32_t entry = rt_cli_entry(cli, address, false);
	const rt_take *take = rt_cli_take(cli);
	rt_slot slot;
	size_t at = 0;
	bool found = false;

	if (take == NULL)
		return 0;
	RT_TRY(&cli->s, rt_take_find(cli->session.value, take, entry, &at, &slot, &found,
				     &cli->s.error));
	if (!found)
		rt_cli_fail(cli, RT_NOT_FOUND, "entry \"%.80s\" is not in take \"%s\"", address,
			    take->name->ptr);
	if (rt_ok(&cli->s) && out_slot != NULL)
		*out_slot = slot;
	return at;
}

/* Both ends of "A..B", cut at dots; empty ends are the ends of the take. */
static rt_cli_span
range_at(rt_cli *cli, const char *range, const char *dots, size_t count)
{
	rt_str first = rt_scope_copy(&cli->s, rt_str_at(range, (size_t)(dots - range)));
	rt_cli_span span = {0, count - 1};

	if (first.size > RT_ID_MAX * 4)
		rt_cli_fail(cli, RT_NOT_FOUND, "no entry matches \"%.80s\"", range);
	if (rt_ok(&cli->s) && first.size > 0)
		span.first = rt_cli_position(cli, first.ptr, NULL);
	if (rt_ok(&cli->s) && dots[2] != 0)
		span.last = rt_cli_position(cli, dots + 2, NULL);
	if (span.first > span.last)
		rt_cli_fail(cli, RT_USAGE, "the range \"%.80s\" ends before it begins",
			    range);
	return span;
}

/* An id may contain dots, so the whole word is tried first, then each ".." in turn. */
rt_cli_span
rt_cli_range(rt_cli *cli, const char *range)
{
	const char *dots = strstr(range, "..");
	size_t count = rt_cli_count(cli), at;
	rt_cli_span span = {0};
	rt_error first;

	if (!rt_ok(&cli->s))
		return span;
	at = rt_cli_position(cli, range, NULL);
	if (rt_ok(&cli->s) || dots == NULL)
		return (rt_cli_span){at, at};
	rt_cli_recover(cli, &first);
	if (count == 0)
		rt_cli_fail(cli, RT_NOT_FOUND, "take \"%s\" is empty", rt_cli_take(cli)->name->ptr);
	while (rt_ok(&cli->s)) {
		span = range_at(cli, range, dots, count);
		dots = strstr(dots + 1, "..");
		if (cli->s.status != RT_NOT_FOUND)
			break;
		if (dots != NULL) {
			rt_cli_recover(cli, NULL);
		} else if (first.status != RT_NOT_FOUND) {
			rt_cli_recover(cli, NULL);
			(void)rt_scope_fail_as(&cli->s, first.status, &first);
		}
	}
	return span;
}

const char *
rt_cli_where(rt_cli *cli, const char *id)
{
	rt_buf *out = rt_scope_buf(&cli->s);
	const rt_project *value = cli->session.value;
	const rt_disc *disc = NULL;
	const rt_take *take = NULL;
	rt_str role = {NULL, 0};
	rt_error ignored;
	rt_slot slot;
	size_t at = 0;
	uint32_t entry = 0;
	bool found = false;
	rt_status st = RT_NOT_FOUND;

	if (!rt_ok(&cli->s))
		return "";
	rt_buf_add_c(out, id);
	if (value != NULL && cli->session.place.disc != 0)
		st = rt_project_disc(value, cli->session.place.disc, &disc, &ignored);
	if (st == RT_OK && (take = rt_disc_take(disc, cli->session.place.take)) == NULL)
		st = RT_NOT_FOUND;
	if (st == RT_OK)
		st = rt_resolve_entry(value, cli->session.place, rt_str_of(id), false, &entry,
				      &ignored);
	if (st == RT_OK)
		st = rt_take_find(value, take, entry, &at, &slot, &found, &ignored);
	if (st == RT_OK && found)
		st = rt_project_name(value, slot.role, &role, &ignored);
	if (st == RT_OK && found) {
		rt_buf_add_c(out, " (");
		rt_buf_add_str(out, rt_role_label(value, role));
		rt_buf_add_f(out, ", %zu of %zu)", at + 1, rt_seq_count(take->slots));
	}
	/* An entry that the take does not show has no place to name. */
	if (st != RT_NOT_FOUND && st != RT_AMBIGUOUS)
		rt_cli_output_lost(cli, st);
	return out->ptr == NULL ? "" : out->ptr;
}
