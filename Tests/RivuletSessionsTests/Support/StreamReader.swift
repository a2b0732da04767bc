// Owns a reader of streams that uses only the received events.

import ChangeOracle
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

/// A reader that applies every change to its own values.
///
/// A change that does not fit fails the test.
struct StreamReader {
    /// The watched paths.
    ///
    /// No path is within another one.
    let paths: [String]
    /// In the order of `paths`.
    var values: [JSONValue?]
    var cursor = ""
    var group: GroupID?

    init(paths: [String]) {
        self.paths = paths
        values = paths.map { _ in nil }
    }

    /// The values at its paths, as texts.
    var texts: [String?] { values.map { $0.map { String(decoding: $0.jsonBytes(), as: UTF8.self) } } }

    /// The texts of a reader that has just read a document.
    static func texts(of document: JSONValue, at paths: [String]) throws -> [String?] {
        try paths.map { path in
            document.bytes(at: try JSONPointer(parsing: path).tokens[...]).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Reads a document.
    mutating func read(_ document: JSONValue) throws {
        values = try Self.texts(of: document, at: paths).map { text in
            try text.map { try JSONValue(parsing: Array($0.utf8)) }
        }
    }

    /// Applies the first events of a stream.
    mutating func take(_ joined: RecordingSink.Joined) throws {
        for event in joined.first { try take(event) }
        cursor = "\(joined.cursor)"
        group = joined.group
    }

    mutating func take(_ event: StreamEvent) throws {
        let data = try JSONValue(parsing: event.data)
        if case .object(let members)? = data["values"] {
            values = paths.map { path in members.first { $0.name.utf8.elementsEqual(path.utf8) }?.value }
        }
        if let changes = data["changes"] {
            for change in try [StateChange](logJSON: changes.jsonBytes()) { try make(change) }
        }
    }

    mutating func make(_ change: StateChange) throws {
        let place = (change.path + "/").utf8
        let watched = try #require(paths.firstIndex { place.starts(with: ($0 + "/").utf8) }, "\(change)")
        let path = try JSONPointer(parsing: String(change.path.utf8.dropFirst(paths[watched].utf8.count)) ?? "")
            .tokens
        if path.isEmpty {
            #expect(change.operation != .move && change.index == nil)
            values[watched] = try change.value.map { try JSONValue(parsing: $0) }
        } else {
            let old = try #require(values[watched], "\(change)")
            let new: JSONValue = try #require(try old.applying(change, at: path[...]), "\(change) to \(old)")
            values[watched] = new
        }
    }
}
