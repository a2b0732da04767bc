// This file owns the events of every form for the tests of this module.

import RivuletJSON
import RivuletObservation

/// The engine's macro of this name, without the engine's protocol.
@attached(member, names: named(eventCases), named(init(json:)))
@attached(
    extension,
    conformances: EventCoding,
    JSONCodable,
    names: named(eventName),
    named(isSensitive),
    named(isInternal),
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

/// A generic enum of events that contains events, itself and payloads of every other kind.
@AppEvent
indirect enum Envelope<Inner: EventCoding & Hashable & Sendable>: Hashable, Sendable {
    case inner(Inner)
    case batch([Inner])
    case again(Envelope<Inner>)
    case setMode(Mode)
    case setModes([Mode], default: Mode? = .idle)
    case step(Int = 1)
    case `init`(by: Plainly)
    case move(x: Int, y: Int)

    /// A type in the enum.
    ///
    /// The enum's cases use the type's short name.
    struct Plainly: Codable, Hashable, Sendable {
        var ids: [Int]
    }
}

/// More cases than an error message lists.
@AppEvent
enum ManyEvents: Hashable, Sendable {
    case c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18
}
