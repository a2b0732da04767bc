import Crypto
import FoundationEssentials

/// A sealed document: the byte 1, the key's name, 8 bytes, then nonce, ciphertext and tag of AES-256-GCM.
///
/// Where it is stored is sealed with it, so that a document moved to another place does not open there.
/// Source: <https://doi.org/10.6028/NIST.SP.800-38D>.
enum SealedDocument {
    private static let form: UInt8 = 1

    /// Why a document does not open; it tells nothing of what is in it.
    enum Fault: Error, CustomStringConvertible {
        case notSealed
        case otherKey
        case damaged
        case otherType(String)

        var description: String {
            switch self {
            case .notSealed: "it is no sealed value"
            case .otherKey: "it is sealed with a key that is not here; give that one as an older key"
            case .damaged: "it is damaged, or was sealed in another place"
            case .otherType(let type): "what is sealed is no \(type)"
            }
        }
    }

    static func seal(_ bytes: [UInt8], at place: String, with key: SealingKey) throws -> [UInt8] {
        let box = try AES.GCM.seal(bytes, using: key.key, authenticating: Array(place.utf8))
        guard let combined = box.combined else { throw Fault.damaged }
        return [form] + key.name + Array(combined)
    }

    /// Whether this key has sealed a document that opens.
    static func isSealed(_ document: [UInt8], with key: SealingKey) -> Bool {
        document.dropFirst().starts(with: key.name)
    }

    static func open(_ document: [UInt8], at place: String, with keys: SealingKeys) throws(Fault) -> [UInt8] {
        let headBytes = 1 + SealingKey.nameBytes
        guard document.count > headBytes, document[0] == form else { throw .notSealed }
        let name = document[1..<headBytes]
        guard let key = ([keys.current] + keys.older).first(where: { $0.name.elementsEqual(name) }) else {
            throw .otherKey
        }
        do {
            let box = try AES.GCM.SealedBox(combined: document[headBytes...])
            return Array(try AES.GCM.open(box, using: key.key, authenticating: Array(place.utf8)))
        } catch {
            throw .damaged
        }
    }
}
