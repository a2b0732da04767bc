// Part of Rivulet. See README.md for the architecture.
// This file owns the events of every form that the tests of this room read and write.

import RivuletJSON
import RivuletObservation

/// The engine's macro of this name, without the engine's protocol.
@attached(
    extension,
    conformances: EventCoding,
    JSONCodable,
    names: named(eventCases),
    named(eventName),
    named(isSensitive),
    named(init(json:)),
    named(encodeJSON(into:))
)
macro AppEvent() = #externalMacro(module: "RivuletMacros", type: "AppEventMacro")

@AppEvent
enum SampleEvent: Hashable, Sendable {
    case increment
    case setCount(Int)
    case setLimits(warnAt: Int, label: String)
    case select(id: String, scroll: Bool = true)
    case pair(Int, String)
    @Sensitive case setNote(String?)
    case setAddress(Address)
    case setTable([String: Int])
    case setPlain(SamplePlain)
    case `default`
    indirect case list([Int], last: Double?)
}

/// A type that is only Codable.
struct SamplePlain: Codable, Hashable, Sendable {
    var x = 1
}
