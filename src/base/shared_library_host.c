/* SPDX-License-Identifier: MIT */
#include "base/shared_library_host.h"

#include <dlfcn.h>
#include <string.h>

static rt_status
load(const rt_shared_library *library, rt_error *err)
{
	void *handle = dlopen(library->files[0], RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL) {
		rt_status st = rt_fail(err, RT_IO, "%s cannot be loaded (%.200s); %s",
				       library->name, dlerror(), library->need);

		for (size_t i = 1; library->files[i] != NULL && handle == NULL; i++)
			handle = dlopen(library->files[i], RTLD_NOW | RTLD_LOCAL);
		if (handle == NULL)
			return st;
	}
	for (size_t i = 0; i < library->function_count; i++) {
		const rt_shared_function *function = &library->functions[i];
		void *address = dlsym(handle, function->name);

		if (address == NULL)
			return rt_fail(err, RT_IO,
				       "%s has no function %s: version %s or later is required",
				       library->name, function->name, library->version);
		/* POSIX lets a data pointer hold a function's, but C has no cast for it. */
		memcpy(function->member, &address, sizeof(address));
	}
	return library->start != NULL ? library->start(err) : RT_OK;
}

rt_status
rt_shared_library_load(rt_shared_library *library, rt_error *err)
{
	rt_status st;

	RT_ASSERT(pthread_mutex_lock(&library->lock) == 0);
	if (!library->was_tried)
		library->status = load(library, &library->error);
	library->was_tried = true;
	st = library->status;
	RT_ASSERT(pthread_mutex_unlock(&library->lock) == 0);
	return st == RT_OK ? RT_OK : rt_fail(err, st, "%s", library->error.text);
}
