// The system's zlib: checksums of stored rows, packed snapshots, gzip.

#ifndef RIVULET_CZLIB_SHIM_H
#define RIVULET_CZLIB_SHIM_H

#include <zlib.h>

#endif
