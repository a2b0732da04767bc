import RivuletBase
import RivuletJSON
package import RivuletObservation

/// The lines that describe the differences between an expected state and the actual one: `/p/count: expected 1, was 2`.
package struct StateDifference {
    /// The maximum number of characters of a value; longer values are cut.
    package static let valueCharactersMax = 200
    /// The number of equal characters that precede the first difference of two long values.
    package static let contextCharacters = 20
    /// The maximum number of lines; further lines are only counted.
    package static let linesMax = 50

    /// The maximum length of the part of a collection in which moved elements are found.
    ///
    /// The time of the search grows with the square of this length.
    package static let reorderedMax = 1_000

    private var lines: [String] = []

    /// Returns one line for each key path that differs: fields in JSON in their order, and then omitted fields.
    package static func lines<State: ObservableState>(expected: State, actual: State) -> [String] {
        var difference = StateDifference()
        do throws(JSONError) {
            difference.compare("", try AddressedValue(expected), try AddressedValue(actual))
        } catch {
            return ["the states differ, and cannot be compared by key path: \(error)"]
        }
        difference.compareOmitted("", expected, actual)
        let lines = difference.lines
        guard !lines.isEmpty else { return ["the states differ by ==, but in no field of their JSON"] }
        guard lines.count > linesMax else { return lines }
        return lines.prefix(linesMax) + ["and \(lines.count - linesMax) more"]
    }

    // MARK: - JSON

    private mutating func compare(_ path: String, _ expected: AddressedValue, _ actual: AddressedValue) {
        guard expected.text != actual.text else { return }
        switch (expected.parts, actual.parts) {
        case (.members(let old), .members(let new)) where Self.haveCommonToken(old, new) || old.isEmpty || new.isEmpty:
            compare(path, old, new, part: "value", isOrdered: false)
        case (.keyed(let old), .keyed(let new)): compare(path, old, new, part: "element", isOrdered: true)
        case (.elements(let old), .elements(let new)): compare(path, old, new)
        default:
            // Two cases of an enum have no name in common, and differ as a whole.
            let (old, new) = Self.excerpts(expected, actual)
            lines.append("\(path): expected \(old), was \(new)")
        }
    }

    /// Compares members by their names, or keyed elements by their ids.
    private mutating func compare(
        _ path: String,
        _ expected: [AddressedValue.Member],
        _ actual: [AddressedValue.Member],
        part: String,
        isOrdered: Bool
    ) {
        let positions = Dictionary(actual.enumerated().map { ($0.element.token, $0.offset) }) { first, _ in first }
        let moved = isOrdered ? moved(path, expected.map(\.token), actual.map(\.token)) : []
        for (index, (token, value)) in expected.enumerated() {
            guard let position = positions[token] else {
                report(missing: value, Self.path(path, token))
                continue
            }
            if moved.contains(token) {
                lines.append("\(Self.path(path, token)): expected at index \(index), was at index \(position)")
            }
            compare(Self.path(path, token), value, actual[position].value)
        }
        let known = Set(expected.map(\.token))
        for (token, value) in actual where !known.contains(token) {
            report(unexpected: value, Self.path(path, token), part: part)
        }
    }

    /// Returns the fewest elements that have to move, among those that both collections have.
    ///
    /// A collection whose order differs too much is reported as a whole.
    private mutating func moved(_ path: String, _ expected: [ByteText], _ actual: [ByteText]) -> Set<ByteText> {
        let common = Set(expected).intersection(actual)
        let (old, new) = (expected.filter(common.contains), actual.filter(common.contains))
        let start = zip(old, new).prefix { $0 == $1 }.count
        let end = zip(old.dropFirst(start).reversed(), new.dropFirst(start).reversed()).prefix { $0 == $1 }.count
        guard old.count - start - end <= Self.reorderedMax else {
            lines.append("\(path): the order of its elements is another one")
            return []
        }
        let steps = new.dropFirst(start).dropLast(end).difference(from: old.dropFirst(start).dropLast(end))
        return Set(
            steps.removals.map { step in
                switch step {
                case .remove(_, let token, _), .insert(_, let token, _): token
                }
            }
        )
    }

    /// Compares the elements of arrays by their index, without the equal elements at both ends.
    private mutating func compare(_ path: String, _ expected: [AddressedValue], _ actual: [AddressedValue]) {
        let start = zip(expected, actual).prefix { $0.text == $1.text }.count
        let (old, new) = (expected.dropFirst(start), actual.dropFirst(start))
        let end = zip(old.reversed(), new.reversed()).prefix { $0.text == $1.text }.count
        let (olds, news) = (Array(old.dropLast(end)), Array(new.dropLast(end)))
        for index in 0..<max(olds.count, news.count) {
            let path = "\(path)/\(start + index)"
            if index >= news.count {
                report(missing: olds[index], path)
            } else if index >= olds.count {
                report(unexpected: news[index], path, part: "element")
            } else {
                compare(path, olds[index], news[index])
            }
        }
    }

    private mutating func report(missing value: AddressedValue, _ path: String) {
        lines.append("\(path): expected \(Self.excerpt(Self.text(value))), was missing")
    }

    private mutating func report(unexpected value: AddressedValue, _ path: String, part: String) {
        lines.append("\(path): expected no \(part), was \(Self.excerpt(Self.text(value)))")
    }

    private static func haveCommonToken(_ old: [AddressedValue.Member], _ new: [AddressedValue.Member]) -> Bool {
        !Set(old.map(\.token)).isDisjoint(with: new.map(\.token))
    }

    private static func path(_ path: String, _ token: ByteText) -> String {
        "\(path)/\(JSONPointer.escape(token.text))"
    }

    // MARK: - Omitted fields

    /// Compares the fields that are in no JSON.
    ///
    /// Such fields of a collection's elements are not compared.
    private mutating func compareOmitted(_ path: String, _ expected: Any, _ actual: Any) {
        for (old, new) in zip(Mirror(reflecting: expected).children, Mirror(reflecting: actual).children) {
            guard let name = old.label.map(Self.fieldName) else { continue }
            if let old = old.value as? any ObservableWrapper, let new = new.value as? any ObservableWrapper {
                compareOmitted("\(path)/\(name)", wrapper: old, new)
            } else if old.value is any ObservableState {
                compareOmitted("\(path)/\(name)", Self.unwrapped(old.value), Self.unwrapped(new.value))
            }
        }
    }

    private mutating func compareOmitted(
        _ path: String,
        wrapper expected: any ObservableWrapper,
        _ actual: any ObservableWrapper
    ) {
        let (old, new) = (expected.wrappedValue as Any, actual.wrappedValue as Any)
        guard type(of: expected).isOmittedFromCoding else {
            if old is any ObservableState { compareOmitted(path, Self.unwrapped(old), Self.unwrapped(new)) }
            return
        }
        if let old = old as? any Equatable, Self.isEqual(old, new) { return }
        let (oldText, newText) = Self.excerpts(String(reflecting: old), String(reflecting: new))
        if oldText != newText { lines.append("\(path): expected \(oldText), was \(newText)") }
    }

    private static func isEqual<Value: Equatable>(_ old: Value, _ new: Any) -> Bool { new as? Value == old }

    /// The value in an optional, also in a nested one.
    private static func unwrapped(_ value: Any) -> Any {
        (value as? any ObservableState) ?? value
    }

    /// The name of a field, from the name of its storage.
    private static func fieldName(_ label: String) -> String {
        // The halves of an `AppState` have storages with longer names.
        ["persistent": "p", "transient": "t"][label] ?? (label.hasPrefix("_") ? String(label.dropFirst()) : label)
    }

    // MARK: - Values

    private static func text(_ value: AddressedValue) -> String {
        String(decoding: value.text, as: UTF8.self)
    }

    private static func excerpts(_ expected: AddressedValue, _ actual: AddressedValue) -> (String, String) {
        excerpts(text(expected), text(actual))
    }

    /// Cuts two values at the same character, so that their first difference is in the texts.
    private static func excerpts(_ expected: String, _ actual: String) -> (String, String) {
        let common = zip(expected, actual).prefix { $0 == $1 }.count
        let start = common > valueCharactersMax / 2 ? common - contextCharacters : 0
        return (excerpt(expected, from: start), excerpt(actual, from: start))
    }

    private static func excerpt(_ text: String, from start: Int = 0) -> String {
        let rest = text.dropFirst(start)
        let shown = rest.prefix(valueCharactersMax)
        return (start > 0 ? "…" : "") + shown + (shown.endIndex < rest.endIndex ? "…" : "")
    }
}
