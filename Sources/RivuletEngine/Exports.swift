// This file exports RivuletObjects. Views import only that module; code with state and reducers gets both modules.

@_exported public import RivuletObjects
