// This file owns the re-exports of this module: the clock is in a module of its own, so that tests of Sessions need no
// server.

@_exported public import RivuletTestClock
