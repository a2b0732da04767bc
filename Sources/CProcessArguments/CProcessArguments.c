#include "CProcessArguments.h"

static int count;
static char **arguments;

// glibc calls constructors before `main`, with the same arguments.
__attribute__((constructor)) static void keep(int argc, char **argv) {
    count = argc;
    arguments = argv;
}

int rivulet_argument_count(void) { return count; }

const char *rivulet_argument(int index) { return arguments[index]; }
