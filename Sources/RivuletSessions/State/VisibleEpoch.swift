import RivuletBase
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSchema

/// Makes the epochs that clients see, in cursors and answers, from the epochs in storage.
///
/// They differ for each shape of an app's state: schema version, fields, wrappers, defaults. So a client that read
/// values in an earlier shape detects that they may be outdated, although no log entry says so.
struct VisibleEpoch: Sendable {
    /// The hash of the shape, the same in every process of a build.
    private let shape: UInt64
    /// True if the default state differs each time it is made.
    ///
    /// An unstored session then gets a new epoch at each load.
    let isDefaultVarying: Bool

    /// Computes the shape of an app's state, once for all its sessions.
    init<Definition: AppDefinition>(_ definition: Definition) {
        var hash = StableHash()
        hash.add("\(definition.schema)\n".utf8)
        let (once, again) = (definition.defaultState, definition.defaultState)
        hash.add(Self.description(of: once, again))
        shape = hash.value
        isDefaultVarying = Self.text(of: once) != Self.text(of: again)
    }

    /// Returns the epoch that cursors carry for a history with this epoch in storage.
    func name(of epoch: String) -> String {
        var hash = StableHash()
        hash.add(epoch.utf8)
        hash.add(".\(shape)".utf8)
        return RandomToken.token(of: hash.value, count: 8)
    }

    /// Returns the state as canonical JSON, in which unordered content has a fixed order.
    private static func text(of state: some ObservableState) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.isCanonical = true
        state.encodeJSON(into: &writer)
        return writer.bytes
    }

    /// Returns the schema and all fields with their defaults in a new session; `again` is the default state, made a
    /// second time.
    private static func description<State: ObservableState>(of once: State, _ again: State) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.beginArray()
        State.jsonSchema.encodeJSON(into: &writer)
        let others = FieldDescription.all(of: again, isCanonical: true)
        for (field, other) in zip(FieldDescription.all(of: once, isCanonical: true), others) {
            // A default such as a fresh id or the time differs after each restart, so it is left out.
            (field.defaultValue == other.defaultValue ? field : field.withoutDefault).encodeJSON(into: &writer)
        }
        writer.endArray()
        return writer.bytes
    }
}
