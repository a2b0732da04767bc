// The arguments of this process as the system passed them. Swift reads them from /proc; this also works without /proc.

#pragma once

/// Returns the number of arguments, including the program's name as the first one.
int rivulet_argument_count(void);

/// Returns the argument at an index below the count.
const char *_Nonnull rivulet_argument(int index);
