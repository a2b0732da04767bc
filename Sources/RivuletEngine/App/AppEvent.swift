// This file defines the JSON form of events, and the macro that generates it.

import RivuletJSON
public import RivuletObjects
public import RivuletObservation

/// An event that is sent to a session, where reducers turn it into a change of state.
///
/// Source: <Tests/Rows/Systems.md#d-05>.
public protocol AppEvent: Sendable, Codable {
    /// True if the change is on disk (fsync returned) before the dispatch is acknowledged.
    ///
    /// False makes the event transient: it changes memory at once, has no version, and is lost by a restart. In an
    /// `@AppEvent` enum it is true by default.
    var persist: Bool { get }
    /// True if a person caused the event.
    ///
    /// The flag is recorded only; the engine ignores it. In an `@AppEvent` enum it is true by default.
    var isUIEvent: Bool { get }
}

extension AppEvent where Self: EventCoding {
    /// True by default: an event is durable unless its enum says otherwise.
    public var persist: Bool { true }

    /// True by default: clients dispatch events for people.
    public var isUIEvent: Bool { true }
}

/// Sends an event to the session; the call returns before the event is reduced.
///
/// Source: <Tests/Rows/Systems.md#d-28>.
public typealias AppDispatch = @Sendable (any AppEvent) -> Void

/// The registry of one session's views, with `appDispatch` and an object factory; it replaces SwiftUI's environment.
public typealias ViewRegistry = ObjectRegistry<any AppEvent>

extension AppEvent where Self: EventCoding {
    /// Writes the JSON form into an encoder of any format.
    ///
    /// - Throws: The error of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var writer = JSONWriter()
        encodeJSON(into: &writer)
        try JSONValue(parsing: writer.bytes).encode(to: encoder)
    }

    /// Reads any of the JSON forms from a decoder of any format.
    ///
    /// - Throws: The error of the decoder, or a `JSONError` if the value is none of the enum's events.
    public init(from decoder: any Decoder) throws {
        try self.init(jsonFrom: decoder)
    }
}

/// Generates the JSON forms and the table of cases of an enum of events, and makes the enum an ``AppEvent``.
///
/// `case increment` is `"increment"`, `case setCount(Int)` is `{"setCount":5}`, `case move(x: Int, y: Int)` is
/// `{"move":{"x":1,"y":2}}`. Swift's own `{"setCount":{"_0":5}}` is accepted too. Events are durable by default. An
/// enum with transient events implements `persist`: `var persist: Bool { self != .touch }`.
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
    named(isInternal),
    named(encodeJSON(into:))
)
public macro AppEvent() = #externalMacro(module: "RivuletMacros", type: "AppEventMacro")
