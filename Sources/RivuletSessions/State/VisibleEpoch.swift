import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSchema

/// Makes the epochs in cursors and documents of those in storage.
///
/// They are other ones for each shape of an app's state: schema version, fields, wrappers, defaults. So a reader of before knows that what
/// it has may differ from what there is now, although no log tells of it.
struct VisibleEpoch: Sendable {
    /// What the shape comes to, the same in every process of a build.
    private let shape: UInt64
    /// Whether a session that is not stored has another state each time that it is made, so that no cursor of one is good for the next.
    let isDefaultVarying: Bool

    /// Looks at an app's state, once for all its sessions.
    init<Definition: AppDefinition>(_ definition: Definition) {
        var hash = StableHash()
        hash.add("\(definition.schema)\n".utf8)
        let (once, again) = (definition.defaultState, definition.defaultState)
        hash.add(Self.description(of: once, again))
        shape = hash.value
        isDefaultVarying = Self.text(of: once) != Self.text(of: again)
    }

    /// The name of a history that storage knows by this epoch.
    func name(of epoch: String) -> String {
        var hash = StableHash()
        hash.add(epoch.utf8)
        hash.add(".\(shape)".utf8)
        return RandomToken.token(of: hash.value, count: 8)
    }

    /// The state as JSON, but for what has no order there.
    private static func text(of state: some ObservableState) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.isCanonical = true
        state.encodeJSON(into: &writer)
        return writer.bytes
    }

    /// The schema and all fields, with the default that a new session has there; `again` is the default made a second time.
    private static func description<State: ObservableState>(of once: State, _ again: State) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.beginArray()
        State.jsonSchema.encodeJSON(into: &writer)
        let others = FieldDescription.all(of: again, isCanonical: true)
        for (field, other) in zip(FieldDescription.all(of: once, isCanonical: true), others) {
            // A fresh id or the time would be another one after each restart.
            (field.standard == other.standard ? field : field.withoutStandard).encodeJSON(into: &writer)
        }
        writer.endArray()
        return writer.bytes
    }
}
