/// A position in a session's visible history: `epoch.version.live`.
///
/// `live` names the incarnation and counts its transient changes. A trailing `u` says that transient events have
/// changed stored fields since that version; a restart would lose these changes. A fourth part names the watched paths
/// if they are not the paths in the reader's URL. Source: <Documentation/HTTP.md#cursors>.
package struct Cursor: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a cursor's text.
    package static let bytesMax = 128

    package let epoch: String
    package let position: Position
    /// The incarnation; nil in the short form `epoch.version`.
    package let incarnation: String?
    package let hasUnlogged: Bool
    /// A name for the set of watched paths, the fourth part of the text; nil if the text has no fourth part.
    package let paths: String?

    /// The incarnation id in the cursors of a reader that has only read the log, and does not know the values in
    /// memory.
    package static let logIncarnation = "0000"
    /// The cursor for an `If-Match` tag that is no cursor; it matches the position of no session.
    package static let nowhere = Cursor(epoch: "", position: Position(version: 0, transients: 0), incarnation: "")
    /// The number of characters of ``paths``.
    package static let pathsCount = 6

    /// A position in the order of one incarnation's changes.
    package struct Position: Hashable, Sendable, Comparable {
        package let version: UInt64
        package let transients: UInt64

        package init(version: UInt64, transients: UInt64) {
            self.version = version
            self.transients = transients
        }

        package static func < (left: Position, right: Position) -> Bool {
            (left.version, left.transients) < (right.version, right.transients)
        }
    }

    package init(
        epoch: String,
        position: Position,
        incarnation: String?,
        hasUnlogged: Bool = false,
        paths: String? = nil
    ) {
        self.epoch = epoch
        self.position = position
        self.incarnation = incarnation
        self.hasUnlogged = hasUnlogged
        self.paths = paths
    }

    /// The same cursor, with this name of the reader's paths; a nil name makes a cursor that names no paths.
    func of(paths: String?) -> Cursor {
        guard paths != self.paths else { return self }
        return Cursor(
            epoch: epoch,
            position: position,
            incarnation: incarnation,
            hasUnlogged: hasUnlogged,
            paths: paths
        )
    }

    /// Reads a cursor's text, in its long or its short form; nil if the text is no cursor.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.bytesMax else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (2...4).contains(parts.count), Self.isToken(parts[0], count: 8),
            let version = Self.number(parts[1])
        else { return nil }
        guard parts.count > 2 else {
            self.init(epoch: String(parts[0]), position: Position(version: version, transients: 0), incarnation: nil)
            return
        }
        let live = parts[2].split(separator: "-", omittingEmptySubsequences: false)
        guard live.count == 2, Self.isToken(live[0], count: 4) else { return nil }
        let hasUnlogged = live[1].hasSuffix("u")
        guard let transients = Self.number(hasUnlogged ? live[1].dropLast() : live[1]) else { return nil }
        guard parts.count == 3 || Self.isToken(parts[3], count: Self.pathsCount) else { return nil }
        self.init(
            epoch: String(parts[0]),
            position: Position(version: version, transients: transients),
            incarnation: String(live[0]),
            hasUnlogged: hasUnlogged,
            paths: parts.count == 4 ? String(parts[3]) : nil
        )
    }

    /// The text: at most `bytesMax` bytes of `[A-Za-z0-9.-]`.
    package var description: String { text(isQuoted: false) }

    /// The text in quotes: the entity tag of an answer at this position.
    ///
    /// It is also a JSON string, because nothing in it has to be escaped.
    package var tag: String { text(isQuoted: true) }

    private func text(isQuoted: Bool) -> String {
        // Every answer and every event has a cursor, and bytes are several times cheaper than interpolated strings.
        let texts = epoch.utf8.count + (incarnation?.utf8.count ?? 0) + (paths?.utf8.count ?? 0)
        return unsafe String(unsafeUninitializedCapacity: texts + Self.numbersBytesMax) { buffer in
            var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            if isQuoted { output.append(UInt8(ascii: "\"")) }
            append(to: &output)
            if isQuoted { output.append(UInt8(ascii: "\"")) }
            return unsafe output.finalize(for: buffer)
        }
    }

    /// The most bytes of two numbers, the characters between the parts, and the quotes.
    private static let numbersBytesMax = 48

    private func append(to output: inout OutputSpan<UInt8>) {
        Self.append(epoch, to: &output)
        output.append(UInt8(ascii: "."))
        Self.append(position.version, to: &output)
        guard let incarnation else { return }
        output.append(UInt8(ascii: "."))
        Self.append(incarnation, to: &output)
        output.append(UInt8(ascii: "-"))
        Self.append(position.transients, to: &output)
        if hasUnlogged { output.append(UInt8(ascii: "u")) }
        guard let paths else { return }
        output.append(UInt8(ascii: "."))
        Self.append(paths, to: &output)
    }

    private static func append(_ text: String, to output: inout OutputSpan<UInt8>) {
        let bytes = text.utf8.span
        for index in bytes.indices { output.append(bytes[index]) }
    }

    private static func append(_ number: UInt64, to output: inout OutputSpan<UInt8>) {
        let (rest, digit) = number.quotientAndRemainder(dividingBy: 10)
        if rest > 0 { append(rest, to: &output) }
        output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
    }

    private static func isToken(_ text: some StringProtocol, count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }

    /// Reads a decimal number as this type writes it: no sign, no leading zero.
    private static func number(_ text: some StringProtocol) -> UInt64? {
        guard let number = UInt64(text), String(number) == text else { return nil }
        return number
    }
}

/// The reason why no cursor of an `If-Match` is at the session's position.
package enum CursorMismatch: Sendable, Hashable {
    /// The session has moved past the cursors.
    case moved
    /// The session does not have the cursors' versions yet, as after a restored backup.
    case ahead
    /// The session is at a cursor's version, but was loaded again since: values that are only in memory may differ.
    case reloaded
    /// No cursor is of the session's history, or the cursors are of a deployment with another shape of the state.
    ///
    /// The epochs do not show which of the two it is.
    case otherHistory
    /// None of the tags is a cursor.
    case noCursor
}
