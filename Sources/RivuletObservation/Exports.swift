// This file owns the re-exports of this module: generated code names the JSON types, so a file that uses the macros
// needs these types too.

@_exported public import RivuletJSON
