import RivuletEngine
import RivuletJSON
import RivuletObservation

/// What an effect's event did.
struct ReceivedEvent<Definition: AppDefinition> {
    let event: Definition.Event
    let before: Definition.State
    let after: Definition.State
    /// Why the reducers did not take it.
    let rejection: String?
}

extension AppEvent where Self: EventCoding {
    /// The JSON form by which tests name and compare events, also those that are not `Equatable`.
    var testForm: String {
        var writer = JSONWriter()
        encodeJSON(into: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
