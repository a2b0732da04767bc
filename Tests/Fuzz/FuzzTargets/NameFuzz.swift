import RivuletServer
import RivuletSessions

/// Names that a client sends back.
///
/// A name must have one spelling.
enum NameFuzz {
    static func fault(inCursor bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let cursor = Cursor(text) else { return nil }
        let isSame = "\(cursor)".utf8.elementsEqual(text.utf8) && cursor.tag == "\"\(cursor)\""
        return isSame ? nil : "\(cursor) of \(text)"
    }

    static func fault(inStream bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let name = StreamName(text) else { return nil }
        return name.description.utf8.elementsEqual(text.utf8) ? nil : "\(name) of \(text)"
    }
}
