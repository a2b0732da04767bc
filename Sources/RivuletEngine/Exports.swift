// Owns what comes with the engine: views import RivuletObjects alone, and code with state and reducers has both.

@_exported public import RivuletObjects
