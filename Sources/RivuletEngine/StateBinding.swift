// Part of Rivulet. See README.md for the architecture.
// Owns what makes a key path of the state writable: the event that a written value becomes.

public import RivuletJSON
public import RivuletObservation

/// A key path that clients may write, and the event that a written value becomes.
///
/// The write is a dispatch of that event, so reducers decide what becomes of the value: they may clamp it, change more than the path,
/// or reject it. Source: spec/http.md §2.
public struct StateBinding<Event: AppEvent & EventCoding>: Sendable {
    /// The JSON Pointer that is written; one token may be `*` for the id of an element.
    public let path: String
    /// The shape of the values that are taken.
    public let valueSchema: JSONSchema
    let takesID: Bool
    private let makeEvent: @Sendable (_ id: String, _ reader: inout JSONReader) throws(JSONError) -> Event

    /// Binds one key path: `StateBinding("/p/count", CounterEvent.setCount)`.
    ///
    /// `event` is pure. That the state has the path, with values like these, is checked when the app is hosted.
    public init<Value: JSONCodable & SendableMetatype>(
        _ path: String,
        _ event: @escaping @Sendable (_ value: Value) -> Event
    ) {
        self.path = path
        valueSchema = Value.jsonSchema
        takesID = false
        makeEvent = { (_, reader) throws(JSONError) in event(try Value(json: &reader)) }
    }

    /// Binds the same field of every element of a collection: `StateBinding("/p/todos/*/title", TodosEvent.rename)`.
    ///
    /// The path has one `*`; `event` is pure, and gets the token that stands there, unescaped.
    public init<Value: JSONCodable & SendableMetatype>(
        _ path: String,
        _ event: @escaping @Sendable (_ id: String, _ value: Value) -> Event
    ) {
        self.path = path
        valueSchema = Value.jsonSchema
        takesID = true
        makeEvent = { (id, reader) throws(JSONError) in event(id, try Value(json: &reader)) }
    }

    /// Reads the value, and makes the event of it.
    func event(id: String, from reader: inout JSONReader) throws(JSONError) -> Event {
        try makeEvent(id, &reader)
    }
}
