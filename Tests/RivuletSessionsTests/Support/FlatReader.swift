// Owns a reader of streams that keeps a separate value for each watched path, and never derives it from another value.

import ChangeOracle
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

/// A reader that keeps each value by its path.
///
/// A change alters the value at its path and the values at outer paths, and never a value at an inner path.
struct FlatReader {
    let topic: StreamTopic
    /// The keys are the bytes of the paths, because spellings that Swift treats as equal are different paths.
    var values: [[UInt8]: JSONValue] = [:]
    var cursor: String?
    var group: GroupID?

    init(_ topic: StreamTopic) { self.topic = topic }

    init(_ paths: [String], view: String? = nil, interval: Duration? = nil) throws {
        let pointers = try paths.map { try JSONPointer(parsing: $0) }
        self.init(StreamTopic(view: view, paths: pointers, interval: interval))
    }

    /// A reader that has just read the state.
    func fresh(at harness: SessionHarness) throws -> FlatReader {
        var reader = FlatReader(StreamTopic(view: topic.view, paths: topic.paths))
        try reader.take(try harness.subscribe(reader.topic))
        return reader
    }

    mutating func take(_ joined: RecordingSink.Joined) throws {
        for event in joined.first { try take(event, isMerged: true) }
        cursor = "\(joined.cursor)"
        group = joined.group
    }

    mutating func take(_ event: StreamEvent, isMerged: Bool = false) throws {
        let data = try JSONValue(parsing: event.data)
        if let members = data["values"]?.members {
            values = Dictionary(uniqueKeysWithValues: members.map { (Array($0.name.utf8), $0.value) })
        }
        var told: [JSONPointer] = []
        for change in try event.changes {
            let path = try JSONPointer(parsing: change.path)
            try make(change, at: path, after: told, isMerged: isMerged)
            guard change.operation != .move else { continue }
            #expect(!told.contains { path.isAround($0) }, "\(change.path) comes after a path within it: \(event.text)")
            told.append(path)
        }
        if let place = event.cursor { cursor = "\(place)" }
    }

    private mutating func make(
        _ change: StateChange,
        at path: JSONPointer,
        after told: [JSONPointer],
        isMerged: Bool
    ) throws {
        let isWatched = topic.paths.contains { $0.matches(path) }
        for (key, old) in values {
            let place = try JSONPointer(parsing: String(decoding: key, as: UTF8.self))
            guard place.isAround(path) else { continue }
            let tokens = path.tokens[place.tokens.count...]
            if told.contains(where: { $0.isAround(path) && $0.tokens.count >= place.tokens.count }) {
                // An outer change of the event has set the value.
                #expect(old.bytes(at: tokens) == change.value, "\(change)")
            } else if isMerged, isWatched, change.operation == .remove, old.bytes(at: tokens) == nil {
                // The stream sends the removal because the value may have been added meanwhile. A stream of that path
                // alone needs the removal.
                continue
            } else if let value = change.value, old.bytes(at: tokens) == nil, change.index == nil {
                values[key] = try old.adding(try JSONValue(parsing: value), at: tokens)
            } else {
                let new: JSONValue = try #require(try old.applying(change, at: tokens), "\(change) to \(old)")
                values[key] = new
            }
        }
        guard change.operation != .move, isWatched else { return }
        values[Array(change.path.utf8)] = try change.value.map { try JSONValue(parsing: $0) }
    }
}

extension StreamEvent {
    /// The changes of a `change` event; empty for other events.
    var changes: [StateChange] {
        get throws {
            guard let changes = try JSONValue(parsing: data)["changes"] else { return [] }
            return try [StateChange](logJSON: changes.jsonBytes())
        }
    }
}

extension JSONPointer {
    /// True if the other path is within this one.
    func isAround(_ other: JSONPointer) -> Bool {
        tokens.count < other.tokens.count && zip(tokens, other.tokens).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// True if this pattern matches the path.
    fileprivate func matches(_ path: JSONPointer) -> Bool {
        tokens.count == path.tokens.count
            && zip(tokens, path.tokens).allSatisfy { $0 == "*" || $0.utf8.elementsEqual($1.utf8) }
    }
}

extension JSONValue {
    /// This value with an added member.
    fileprivate func adding(_ value: JSONValue, at path: ArraySlice<String>) throws -> JSONValue {
        let token = try #require(path.first)
        var members = try #require(members, "\(path) in \(self)")
        guard path.count > 1 else { return .object(members + [Member(name: token, value: value)]) }
        let index = try #require(members.firstIndex { $0.name.utf8.elementsEqual(token.utf8) }, "\(path) in \(self)")
        members[index] = Member(name: token, value: try members[index].value.adding(value, at: path.dropFirst()))
        return .object(members)
    }
}
