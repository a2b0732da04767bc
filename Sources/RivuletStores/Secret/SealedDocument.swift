import Crypto
import FoundationEssentials
import RivuletBase

/// A sealed document: the byte 1, the 8 bytes of the key's name, then nonce, ciphertext and tag of AES-256-GCM.
///
/// The storage location is authenticated with the document, so that a document that was moved to another location
/// does not open there.
/// Source: <https://doi.org/10.6028/NIST.SP.800-38D>.
package enum SealedDocument {
    private static let codec: UInt8 = 1

    /// The error of a document that does not open.
    ///
    /// It reveals nothing of the content.
    package enum OpeningError: LoggableError, CustomStringConvertible {
        case notSealed
        case otherKey
        case damaged
        case otherType(String)

        package var description: String {
            switch self {
            case .notSealed: "it is not a sealed value"
            case .otherKey: "it is sealed with a key that was not given; give that key as an older key"
            case .damaged: "it is damaged, or was sealed for another storage location"
            case .otherType(let type): "the sealed value is not of the type \(type)"
            }
        }

        /// The whole text.
        package var logText: String { description }
    }

    package static func seal(_ bytes: [UInt8], at location: String, with key: SealingKey) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: key.key, authenticating: Array(location.utf8))
        guard let combined = box.combined else { throw OpeningError.damaged }
        return [codec] + key.name + Array(combined)
    }

    /// Returns true if a document that can be opened was sealed with this key.
    package static func isSealed(_ document: [UInt8], with key: SealingKey) -> Bool {
        document.dropFirst().starts(with: key.name)
    }

    package static func open(
        _ document: [UInt8],
        at location: String,
        with keys: SealingKeys
    ) throws(OpeningError) -> [UInt8] {
        let headBytes = 1 + SealingKey.nameBytes
        guard document.count > headBytes, document[0] == codec else { throw .notSealed }
        let name = document[1..<headBytes]
        guard let key = ([keys.current] + keys.older).first(where: { $0.name.elementsEqual(name) }) else {
            throw .otherKey
        }
        do {
            let box = try AES.GCM.SealedBox(combined: document[headBytes...])
            return Array(try AES.GCM.open(box, using: key.key, authenticating: Array(location.utf8)))
        } catch {
            throw .damaged
        }
    }
}
