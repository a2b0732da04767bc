// This file exports the public modules under one name, so that apps import only Rivulet.

@_exported public import RivuletAccess
@_exported public import RivuletBase
@_exported public import RivuletEngine
@_exported public import RivuletInProcess
@_exported public import RivuletJSON
@_exported public import RivuletMetrics
@_exported public import RivuletObjects
@_exported public import RivuletObservation
@_exported public import RivuletSQLite
@_exported public import RivuletSchema
@_exported public import RivuletServer
@_exported public import RivuletSessions
@_exported public import RivuletStores
