import RivuletJSON
import RivuletObservation
import RivuletSQLite
import RivuletSessions

/// The readers of stored rows, with rows as a damaged disk may give them.
enum RowFuzz {
    static func fault(inChanges bytes: [UInt8]) -> String? {
        do throws(JSONError) {
            let changes = try [StateChange](logJSON: bytes)
            let again = try [StateChange](logJSON: changes.logJSON)
            return again == changes ? nil : "\(changes) are read as \(again)"
        } catch {
            return (0...bytes.count).contains(error.offset) ? nil : "\(error)"
        }
    }

    /// The first byte determines the size of the state.
    static func fault(inSnapshot bytes: [UInt8]) -> String? {
        guard let first = bytes.first else { return nil }
        let (body, count) = (Array(bytes.dropFirst()), Int(first) * 97)
        for encoding in [SnapshotEncoding.plain, .zlib] {
            guard let state = encoding.unpack(body, byteCount: count) else { continue }
            let packed = SnapshotEncoding.pack(state)
            guard state.count == count, packed.encoding.unpack(packed.body, byteCount: count) == state else {
                return "\(state.count) bytes of \(count)"
            }
        }
        return nil
    }
}
