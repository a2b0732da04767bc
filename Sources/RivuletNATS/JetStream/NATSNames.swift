package import RivuletCluster

/// The names of a cluster's streams and subjects in NATS.
///
/// | stream | subjects | content |
/// |---|---|---|
/// | `RVL_0` | `rvl.0`, republished as `rvd.0` | the log of partition 0 |
/// | `RVB` | `rvb.0.<base>.<chunk>`, `rvb.0.manifest` | the base of partition 0 |
/// | `RVM` | `rvm.<record>`, `rvt.<number>` | the records, and the scratch subjects of the self-test |
///
/// Messages between nodes have the subjects `rvx.<cluster>.<node>`, and are in no stream.
package struct NATSNames: Hashable, Sendable {
    /// The text before all names, so that several clusters share servers; empty for none.
    private let prefix: String

    /// Makes the names; a prefix has letters and digits only.
    package init(prefix: String = "") {
        precondition(
            prefix.utf8.allSatisfy { Self.plain.contains($0) && $0 != UInt8(ascii: ".") },
            "the prefix \(prefix) is no word"
        )
        self.prefix = prefix
    }

    package func logStream(_ partition: Partition) -> String { stream("RVL_\(partition.rawValue)") }
    package var baseStream: String { stream("RVB") }
    package var recordStream: String { stream("RVM") }

    package func log(_ partition: Partition) -> String { subject("rvl.\(partition.rawValue)") }
    package var allLogs: String { subject("rvl.>") }
    package func republished(_ partition: Partition) -> String { subject("rvd.\(partition.rawValue)") }
    package var allRepublished: String { subject("rvd.>") }
    package var allBases: String { subject("rvb.>") }
    package func manifest(_ partition: Partition) -> String { subject("rvb.\(partition.rawValue).manifest") }
    package func chunk(_ index: Int, of base: String, _ partition: Partition) -> String {
        subject("rvb.\(partition.rawValue).\(base).\(index)")
    }
    package var allRecords: String { subject("rvm.>") }
    package var allScratch: String { subject("rvt.>") }
    package func scratch(_ number: Int) -> String { subject("rvt.\(number)") }
    package func record(_ name: String) -> String { subject("rvm.") + Self.token(name) }
    package func node(_ name: String, of cluster: String) -> String {
        subject("rvx.\(Self.word(cluster)).\(Self.word(name))")
    }

    /// The name of a record's subject; nil for another subject.
    package func recordName(of subject: String) -> String? {
        let start = self.subject("rvm.")
        guard subject.hasPrefix(start) else { return nil }
        return Self.text(of: subject.dropFirst(start.count))
    }

    private func stream(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix)_\(name)" }
    private func subject(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix).\(name)" }

    // MARK: Encoding

    /// The bytes that stay as they are in subjects.
    private static let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)

    /// Encodes a name as the end of a subject; dots stay where they make words that are not empty.
    private static func token(_ name: String) -> String {
        guard !name.isEmpty else { return "=" }
        return name.split(separator: ".", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "=" : word($0) }
            .joined(separator: ".")
    }

    /// Encodes a name as one word of a subject, with `=` and two hexadecimal digits for other bytes.
    private static func word(_ name: some StringProtocol) -> String {
        var text = ""
        for byte in name.utf8 {
            if plain.contains(byte), byte != UInt8(ascii: ".") {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += byte < 16 ? "=0\(String(byte, radix: 16))" : "=\(String(byte, radix: 16))"
            }
        }
        return text
    }

    private static func text(of subject: Substring) -> String? {
        var bytes: [UInt8] = []
        for (index, word) in subject.split(separator: ".", omittingEmptySubsequences: false).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ".")) }
            var rest = word == "=" ? "" : word
            while let character = rest.popFirst() {
                guard character == "=" else {
                    bytes += String(character).utf8
                    continue
                }
                guard rest.count >= 2, let value = UInt8(rest.prefix(2), radix: 16) else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
