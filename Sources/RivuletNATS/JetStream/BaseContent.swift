internal import Crypto
internal import RivuletCluster
internal import RivuletJSON

/// The content of a base as chunks of a fixed size: each frame behind its length in four bytes, lowest first.
struct BaseChunks {
    private let frames: [[UInt8]]
    private let chunkBytes: Int
    private var frame = 0
    /// The next byte of the frame, its length's bytes first.
    private var offset = 0
    private var hash = SHA256()
    private(set) var byteCount = 0

    /// The bytes of a length.
    fileprivate static let lengthBytes = 4

    init(_ frames: [[UInt8]], chunkBytes: Int) { (self.frames, self.chunkBytes) = (frames, chunkBytes) }

    /// The number of all bytes of some frames.
    static func byteCount(of frames: [[UInt8]]) -> Int { frames.reduce(0) { $0 + $1.count + lengthBytes } }

    /// The hash of all chunks so far, in hexadecimal digits.
    var hashText: String { Self.text(of: hash) }

    mutating func next() -> [UInt8]? {
        guard frame < frames.count else { return nil }
        var chunk: [UInt8] = []
        chunk.reserveCapacity(chunkBytes)
        while frame < frames.count, chunk.count < chunkBytes {
            let bytes = frames[frame]
            if offset < Self.lengthBytes {
                chunk.append(UInt8(truncatingIfNeeded: bytes.count >> (8 * offset)))
                offset += 1
            } else {
                let start = offset - Self.lengthBytes
                let part = bytes[start..<min(bytes.count, start + chunkBytes - chunk.count)]
                chunk += part
                offset += part.count
            }
            guard offset == bytes.count + Self.lengthBytes else { continue }
            (frame, offset) = (frame + 1, 0)
        }
        hash.update(data: chunk)
        byteCount += chunk.count
        return chunk
    }

    fileprivate static func text(of hash: SHA256) -> String {
        hash.finalize().map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The frames of a base, put together from its chunks in order.
struct BaseAssembly {
    private(set) var frames: [[UInt8]] = []
    private var rest: [UInt8] = []
    private var hash = SHA256()
    private(set) var byteCount = 0

    var hashText: String { BaseChunks.text(of: hash) }
    /// True if the chunks so far end with a frame.
    var isWhole: Bool { rest.isEmpty }

    mutating func append(_ chunk: [UInt8]) {
        hash.update(data: chunk)
        byteCount += chunk.count
        rest += chunk
        var start = 0
        while rest.count - start >= BaseChunks.lengthBytes {
            let length = (0..<BaseChunks.lengthBytes).reduce(0) { $0 | Int(rest[start + $1]) << (8 * $1) }
            let end = start + BaseChunks.lengthBytes + length
            guard rest.count >= end else { break }
            frames.append(Array(rest[(start + BaseChunks.lengthBytes)..<end]))
            start = end
        }
        rest.removeFirst(start)
    }
}

/// The description of a complete base.
struct BaseManifest: Hashable {
    let position: LogPosition
    /// The word of the chunks' subjects.
    let id: String
    let chunks: Int
    let byteCount: Int
    let hash: String

    static let format = 1

    init(position: LogPosition, id: String, chunks: Int, byteCount: Int, hash: String) {
        (self.position, self.id, self.chunks, self.byteCount, self.hash) = (position, id, chunks, byteCount, hash)
    }

    var json: JSONValue {
        .members([
            "format": .number("\(Self.format)"), "position": .unsigned(position.rawValue), "id": .string(id),
            "chunks": .number("\(chunks)"), "bytes": .number("\(byteCount)"), "sha256": .string(hash),
        ])
    }

    /// Reads a manifest.
    ///
    /// - Throws: `incompatible` for a later format, `lost` for other bytes.
    init(_ bytes: [UInt8], byteCountMax: Int) throws(LogError) {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw Self.damaged
        }
        guard let format = value["format"]?.integerValue else { throw Self.damaged }
        guard format <= Self.format else {
            throw .incompatible(detail: "The base in NATS has the format \(format). Upgrade this node.")
        }
        guard let position = value["position"]?.unsigned, let id = value["id"]?.stringValue,
            let chunks = value["chunks"]?.integerValue, let count = value["bytes"]?.integerValue,
            let hash = value["sha256"]?.stringValue, (0...byteCountMax).contains(count),
            (0...max(count, 0)).contains(chunks)
        else { throw Self.damaged }
        self.init(position: LogPosition(rawValue: position), id: id, chunks: chunks, byteCount: count, hash: hash)
    }

    static let damaged = LogError.lost(
        detail: "The base in NATS is damaged. Copy one from a node with `rivulet cluster reseed --from NODE`."
    )
}
