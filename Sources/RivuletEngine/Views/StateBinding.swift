public import RivuletJSON
public import RivuletObservation

/// A key path that clients may write, and the event that a written value becomes.
///
/// The write is a dispatch of that event, so reducers decide on the value: they may clamp it, change more than the
/// path, or reject it. Source: <Documentation/HTTP.md#writing-a-value>.
public struct StateBinding<Event: AppEvent & EventCoding>: Sendable {
    /// The JSON Pointer that can be written.
    ///
    /// One token may be `*` for the id of an element.
    public let path: String
    /// The shape of the accepted values.
    public let valueSchema: JSONSchema
    let takesID: Bool
    /// An id for the `*`, with which a description can make an event; nil if no valid id is known.
    let sampleID: String?
    /// Returns nil if the token is not a valid id.
    private let makeEvent: @Sendable (_ id: String, _ reader: inout JSONReader) throws(JSONError) -> Event?

    /// Binds one key path: `StateBinding("/p/count", CounterEvent.setCount)`.
    ///
    /// `event` is pure. When the app is hosted, the server checks that the state has the path, with values of this
    /// type.
    public init<Value: JSONCodable & SendableMetatype>(
        _ path: String,
        _ event: @escaping @Sendable (_ value: Value) -> Event
    ) {
        self.path = path
        valueSchema = Value.jsonSchema
        takesID = false
        sampleID = ""
        makeEvent = { (_, reader) throws(JSONError) in event(try Value(json: &reader)) }
    }

    /// Binds the same field of every element of a collection: `StateBinding("/p/todos/*/title", TodosEvent.rename)`.
    ///
    /// The path has one `*`. `event` is pure, and gets the id at the `*`. The id has the type of the elements' ids:
    /// `String`, an integer, `UUID`, a raw-representable type or another ``KeyedID``. A token that is not such an id
    /// is refused before an event is made.
    public init<ID: KeyedID, Value: JSONCodable & SendableMetatype>(
        _ path: String,
        _ event: @escaping @Sendable (_ id: ID, _ value: Value) -> Event
    ) {
        self.path = path
        valueSchema = Value.jsonSchema
        takesID = true
        sampleID = Self.sample(of: ID.self)
        makeEvent = { (token, reader) throws(JSONError) in
            guard let id = ID.from(exactKeyPathToken: token) else { return nil }
            return event(id, try Value(json: &reader))
        }
    }

    /// Refused: the event's first argument is not an id, or its second is not a JSON value.
    ///
    /// Without this declaration the compiler's error is about tuples. This initialiser never runs, because code that
    /// calls it does not compile.
    @available(
        *,
        unavailable,
        message: """
            the event first takes the id at the *: a String, an integer, a UUID or another type that conforms to KeyedID; \
            its second argument is the value, of a type that conforms to JSONCodable
            """
    )
    public init<ID, Value>(_ path: String, _ event: @escaping @Sendable (_ id: ID, _ value: Value) -> Event) {
        self.path = path
        valueSchema = .any
        takesID = true
        sampleID = nil
        makeEvent = { (_, _) throws(JSONError) in nil }
    }

    /// Reads the value and makes its event; nil if the token is not a valid id.
    func event(id token: String, from reader: inout JSONReader) throws(JSONError) -> Event? {
        try makeEvent(token, &reader)
    }

    private static func sample<ID: KeyedID>(of type: ID.Type) -> String? {
        let token = ["", "0", "00000000-0000-0000-0000-000000000000"].first { ID.from(exactKeyPathToken: $0) != nil }
        return token ?? ((ID.self as? any CaseIterable.Type)?.allCases.first as? ID)?.keyPathToken
    }
}
