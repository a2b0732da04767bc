// Owns the way of an event as JSON, and the macro that gives it.

import RivuletJSON
public import RivuletObjects
public import RivuletObservation

/// Something that happened, sent to a session, where reducers turn it into a change of state.
///
/// Source: <Tests/Rows/Systems.md#d-05>.
public protocol AppEvent: Sendable, Codable {
    /// Whether the change is on disk (fsync returned) before the dispatch is acknowledged.
    ///
    /// False makes the event transient: it changes memory at once, has no version, and is lost by a restart.
    var persist: Bool { get }
    /// Whether a person caused it; only recorded, the engine does not look at it.
    var isUIEvent: Bool { get }
}

/// Sends an event to the session; the call returns before the event is reduced.
///
/// Source: <Tests/Rows/Systems.md#d-28>.
public typealias AppDispatch = @Sendable (any AppEvent) -> Void

/// What views of one session are given, in the place of SwiftUI's environment: `appDispatch` and an object factory.
public typealias ViewRegistry = ObjectRegistry<any AppEvent>

extension AppEvent where Self: EventCoding {
    /// Writes the JSON form into an encoder of any format.
    ///
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var writer = JSONWriter()
        encodeJSON(into: &writer)
        try JSONValue(parsing: writer.bytes).encode(to: encoder)
    }

    /// Reads any of the JSON forms from a decoder of any format.
    ///
    /// - Throws: what the decoder throws, or a `JSONError` when the value is none of the enum's events.
    public init(from decoder: any Decoder) throws {
        try self.init(jsonFrom: decoder)
    }
}

/// Gives an enum of events its JSON forms and its table of cases, and makes it an ``AppEvent``.
///
/// `case increment` is `"increment"`, `case setCount(Int)` is `{"setCount":5}`, `case move(x: Int, y: Int)` is
/// `{"move":{"x":1,"y":2}}`; Swift's own `{"setCount":{"_0":5}}` is taken too. The enum itself says `persist` and `isUIEvent`.
@attached(member, names: named(eventCases), named(init(json:)))
@attached(
    extension,
    conformances: AppEvent,
    EventCoding,
    JSONCodable,
    Encodable,
    Decodable,
    names: named(eventName),
    named(isSensitive),
    named(encodeJSON(into:))
)
public macro AppEvent() = #externalMacro(module: "RivuletMacros", type: "AppEventMacro")
