import RivuletJSON
import RivuletObservation
import RivuletSessions

/// The lines that describe the differences between an expected state and the actual one: `/p/count: expected 1, was 2`.
enum StateDifference {
    /// The maximum length of a value; longer values are cut.
    private static let valueCharactersMax = 200
    /// The maximum number of lines; further lines are only counted.
    private static let linesMax = 50

    /// Returns one line for each key path that differs, in the order of the fields.
    static func lines<State: ObservableState>(expected: State, actual: State) -> [String] {
        let changes = ChangeRecorder.differences(from: expected, to: actual)
        let lines = changes.flatMap { self.lines(of: $0, expected) }
        guard !lines.isEmpty else { return ["the states differ in fields that are in no JSON, as with OmitCoding"] }
        guard lines.count > linesMax else { return lines }
        return lines.prefix(linesMax) + ["and \(lines.count - linesMax) more"]
    }

    private static func lines(of change: StateChange, _ expected: some ObservableState) -> [String] {
        switch change.operation {
        case .add: ["\(change.path): expected no element, was \(text(change.value))"]
        case .remove: ["\(change.path): expected \(text(value(at: change.path, of: expected))), was no element"]
        case .move: ["\(change.path): expected at another position, was at \(change.index.map { "\($0)" } ?? "?")"]
        case .replace:
            lines(at: change.path, parsed(value(at: change.path, of: expected)), parsed(change.value))
        }
    }

    /// Descends into objects, so that a line names the field that differs.
    private static func lines(at path: String, _ expected: JSONValue?, _ actual: JSONValue?) -> [String] {
        guard case .object(let left)? = expected, case .object(let right)? = actual,
            left.map(\.name) == right.map(\.name)
        else { return ["\(path): expected \(text(expected)), was \(text(actual))"] }
        let lines = zip(left, right).filter { $0.value != $1.value }.flatMap { left, right in
            self.lines(at: "\(path)/\(JSONPointer.escape(left.name))", left.value, right.value)
        }
        return lines.isEmpty ? ["\(path): the values differ, but their JSON does not"] : lines
    }

    private static func value(at path: String, of state: some ObservableState) -> [UInt8]? {
        do {
            return state.json(at: try JSONPointer(parsing: path))
        } catch {
            return nil
        }
    }

    private static func parsed(_ bytes: [UInt8]?) -> JSONValue? {
        do {
            return try bytes.map { try JSONValue(parsing: $0) }
        } catch {
            return nil
        }
    }

    private static func text(_ value: JSONValue?) -> String {
        text(value.map { Array("\($0)".utf8) })
    }

    private static func text(_ bytes: [UInt8]?) -> String {
        guard let bytes else { return "no value" }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.count > valueCharactersMax ? "\(text.prefix(valueCharactersMax))…" : text
    }
}
