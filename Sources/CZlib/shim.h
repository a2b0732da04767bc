// Part of Rivulet. See README.md for the architecture.
// The system's zlib, and the initialisers of it that are macros.

#ifndef RIVULET_CZLIB_SHIM_H
#define RIVULET_CZLIB_SHIM_H

#include <zlib.h>

// deflateInit2 is a macro, which Swift cannot import. windowBits: 15 for zlib, 31 for gzip, -15 for raw deflate.
static inline int rivulet_zlib_deflate_init(z_stream *stream, int level, int windowBits, int memLevel) {
    return deflateInit2(stream, level, Z_DEFLATED, windowBits, memLevel, Z_DEFAULT_STRATEGY);
}

// inflateInit2 is a macro, which Swift cannot import. windowBits as above.
static inline int rivulet_zlib_inflate_init(z_stream *stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}

#endif
