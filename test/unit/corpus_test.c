/*
 * The kept inputs of the fuzzer once more, for compilers that cannot fuzz.
 */
#define _FILE_OFFSET_BITS 64 /* a 32-bit readdir on a 64-bit kernel fails without */

#include "../fuzz/format_fuzz.c"

#include <dirent.h>

#include "tap.h"

#define CORPUS "test/fuzz/corpus"

static void
run_file(const char *name)
{
	char path[sizeof(CORPUS) + 256];
	FILE *file;
	uint8_t *bytes;
	size_t size;

	snprintf(path, sizeof(path), CORPUS "/%s", name);
	/* told before: what goes wrong ends the program */
	printf("# %s\n", path);
	fflush(stdout);
	file = fopen(path, "rb");
	CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
	size = (size_t) ftell(file);
	rewind(file);
	/* exactly as large, so that reading past the end is noticed */
	bytes = malloc(size);
	CHECK(fread(bytes, 1, size, file) == size);
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	free(bytes);
}

int
main(void)
{
	DIR *folder = opendir(CORPUS);
	int count = 0;

	CHECK(folder != NULL);
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (entry->d_name[0] != '.')
		{
			run_file(entry->d_name);
			count++;
		}
	closedir(folder);
	ok(count > 0, "%d kept inputs of the fuzzer", count);
	return done_testing();
}
