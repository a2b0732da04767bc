// The arguments of this process as the system gave them, also where there is no /proc, from which Swift reads them.

#pragma once

/// How many there are, with the name of the program as the first one.
int rivulet_argument_count(void);

/// The argument at an index below the count.
const char *_Nonnull rivulet_argument(int index);
