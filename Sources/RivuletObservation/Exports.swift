// This file owns what comes with this module: generated code names the JSON types, so whoever has the macros has them too.

@_exported public import RivuletJSON
