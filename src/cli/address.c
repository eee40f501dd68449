/* SPDX-License-Identifier: MIT
 *
 * Addresses of entries as people type them, and what may have been meant by those that name none. */
#include "cli/cli.h"

rt_status
rt_cli_id_at(rt_cli *cli, size_t at, char room[RT_ID_ROOM])
{
	const rt_take *take = NULL;
	rt_slot slot;
	rt_status st = rt_cli_take(cli, &take);

	if (st == RT_OK)
		st = rt_seq_get(take->slots, at, &slot, &cli->error);
	return st == RT_OK ? rt_entry_id(cli->session.value, slot.entry, room, &cli->error) : st;
}

/* "@-N": N entries before the head. */
static rt_status
before_head(rt_cli *cli, const char *address, size_t back, char room[RT_ID_ROOM])
{
	const rt_disc *disc = NULL;
	size_t at = 0;
	rt_status st = rt_cli_disc(cli, &disc);

	if (st == RT_OK)
		st = rt_disc_head_at(cli->session.value, disc, &at, &cli->error);
	if (st != RT_OK)
		return st;
	/* The head stands behind entry at - 1 of the active take. */
	if (at < back + 1)
		return rt_cli_fail(cli, RT_NOT_FOUND,
				   "there is no entry %s: only %zu before the head", address,
				   at == 0 ? at : at - 1);
	cli->session.place.take = disc->active;
	return rt_cli_id_at(cli, at - 1 - back, room);
}

rt_status
rt_cli_address(rt_cli *cli, const char *address, char room[RT_ID_ROOM], rt_str *out)
{
	uint64_t back = 1;
	uint32_t take = cli->session.place.take;
	rt_status st;

	*out = rt_str_of(address);
	if (address[0] != '@' || address[1] != '-')
		return RT_OK;
	if (address[2] != 0) {
		st = rt_cli_number(cli, address + 2, "how far before the head", &back);
		if (st != RT_OK)
			return st;
	}
	st = before_head(cli, address, (size_t)(back > UINT32_MAX ? UINT32_MAX : back), room);
	cli->session.place.take = take;
	*out = rt_str_of(room);
	return st;
}

/* Is this the whole id of an entry of another discussion? Its name to out. */
static bool
is_elsewhere(rt_cli *cli, rt_str id, rt_buf *out)
{
	size_t i, count = rt_project_disc_count(cli->session.value);
	char whole[RT_ID_ROOM];
	rt_error none;

	if (id.size == 0 || id.ptr[0] == ':' || id.ptr[0] == '@')
		return false;
	for (i = 1; i <= count; i++) {
		const rt_cell *cell = rt_project_cell(cli->session.value, (uint32_t)i);
		rt_place place = {(uint32_t)i, 0};
		uint32_t entry = 0;

		if (cell == NULL || !cell->present || i == cli->session.place.disc ||
		    rt_resolve_entry(cli->session.value, place, id, true, &entry, &none) != RT_OK ||
		    rt_entry_id(cli->session.value, entry, whole, &none) != RT_OK ||
		    !rt_str_is(id, whole))
			continue;
		rt_buf_add_str(out, rt_cell_name(cell));
		return true;
	}
	return false;
}

void
rt_cli_hint_entry(rt_cli *cli, const char *address, rt_status status)
{
	const rt_disc *disc = NULL;
	rt_buf name, quoted;

	/* A label is whole already; more of it would not help. */
	if (status == RT_AMBIGUOUS && strstr(cli->error.text, "is the label of") != NULL)
		rt_cli_hint(cli, status, "Name one by its id. Labels: retake label");
	if (status != RT_NOT_FOUND || rt_cli_disc(cli, &disc) != RT_OK)
		return;
	rt_buf_init(&name, cli->alloc, 4096);
	rt_buf_init(&quoted, cli->alloc, 4096);
	if (is_elsewhere(cli, rt_str_of(address), &name) && name.ptr != NULL) {
		rt_args_add_quoted(&quoted, name.ptr);
		rt_cli_hint(cli, status, "It is in discussion \"%.200s\": retake -d %.300s show %s",
			    name.ptr, quoted.ptr == NULL ? "" : quoted.ptr, address);
	}
	rt_buf_deinit(&name);
	rt_buf_deinit(&quoted);
	if (cli->session.hint[0] != 0)
		return;
	if (rt_disc_take_named(disc, rt_str_of(address)) != 0)
		rt_cli_hint(cli, status, "That is a take. Go to it: retake takes switch %s",
			    address);
	else if (address[0] >= '0' && address[0] <= '9' &&
		 strspn(address, "0123456789") == strlen(address))
		rt_cli_hint(cli, status, "Positions begin with a colon: :%s   Entries: retake show",
			    address);
}

rt_status
rt_cli_entry(rt_cli *cli, const char *address, bool whole, uint32_t *out_entry)
{
	char room[RT_ID_ROOM];
	rt_error kept = cli->error;
	rt_str plain;
	rt_status st = rt_cli_address(cli, address, room, &plain);

	if (st != RT_OK)
		return st;
	st = rt_resolve_entry(cli->session.value, cli->session.place, plain, whole, out_entry,
			      &cli->error);
	if (st != RT_OK) {
		kept = cli->error;
		rt_cli_hint_entry(cli, address, st);
		cli->error = kept;
	}
	return st;
}

rt_status
rt_cli_position(rt_cli *cli, const char *address, size_t *out_at, rt_slot *out_slot)
{
	const rt_take *take = NULL;
	rt_slot slot;
	uint32_t entry = 0;
	bool found = false;
	rt_status st = rt_cli_entry(cli, address, false, &entry);

	if (st == RT_OK)
		st = rt_cli_take(cli, &take);
	if (st == RT_OK)
		st = rt_take_find(cli->session.value, take, entry, out_at, &slot, &found,
				  &cli->error);
	if (st == RT_OK && !found)
		st = rt_cli_fail(cli, RT_NOT_FOUND, "entry \"%.80s\" is not in take \"%s\"",
				 address, take->name->ptr);
	if (st == RT_OK && out_slot != NULL)
		*out_slot = slot;
	return st;
}

/* Both ends of "A..B" cut at dots; empty ends are the ends of the take. */
static rt_status
range_at(rt_cli *cli, const char *range, const char *dots, size_t count, size_t *out_first,
	 size_t *out_last)
{
	char first[RT_ID_ROOM * 4];
	rt_status st = RT_OK;

	if ((size_t)(dots - range) >= sizeof(first))
		return rt_cli_fail(cli, RT_NOT_FOUND, "no entry matches \"%.80s\"", range);
	memcpy(first, range, (size_t)(dots - range));
	first[dots - range] = 0;
	*out_first = 0;
	*out_last = count - 1;
	if (first[0] != 0)
		st = rt_cli_position(cli, first, out_first, NULL);
	if (st == RT_OK && dots[2] != 0)
		st = rt_cli_position(cli, dots + 2, out_last, NULL);
	if (st == RT_OK && *out_first > *out_last)
		st = rt_cli_fail(cli, RT_USAGE, "in \"%.80s\" the end comes before the beginning",
				 range);
	return st;
}

rt_status
rt_cli_range(rt_cli *cli, const char *range, size_t *out_first, size_t *out_last)
{
	const char *dots = strstr(range, "..");
	const rt_take *take = NULL;
	rt_error whole;
	rt_status st = rt_cli_take(cli, &take), first;
	size_t count;

	if (st != RT_OK)
		return st;
	count = rt_seq_count(take->slots);
	/* An id may hold dots, so the whole goes first. */
	first = rt_cli_position(cli, range, out_first, NULL);
	*out_last = *out_first;
	if (first == RT_OK || dots == NULL)
		return first;
	whole = cli->error;
	cli->session.hint[0] = 0;
	if (count == 0)
		return rt_cli_fail(cli, RT_NOT_FOUND, "take \"%s\" is empty", take->name->ptr);
	for (st = RT_NOT_FOUND; dots != NULL && st == RT_NOT_FOUND; dots = strstr(dots + 1, ".."))
		st = range_at(cli, range, dots, count, out_first, out_last);
	if (st == RT_NOT_FOUND && first != RT_NOT_FOUND) {
		cli->error = whole;
		return first;
	}
	return st;
}
