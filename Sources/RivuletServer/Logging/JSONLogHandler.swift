public import Logging
import RivuletJSON
import RivuletStores
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes each log line as one JSON object and a line feed.
///
/// `{"time":"2026-01-01T00:00:00.000Z","level":"info","logger":"rivulet","message":"server
/// started","fields":{"workers":"2"}}`
public struct JSONLogHandler: LogHandler {
    /// The lowest level that is written.
    public var logLevel = Logger.Level.info
    /// Fields of every line.
    public var metadata: Logger.Metadata = [:]
    /// The provider of further fields of every line.
    public var metadataProvider: Logger.MetadataProvider?

    private let label: String
    private let now: @Sendable () -> Int64
    private let write: @Sendable ([UInt8]) -> Void

    /// Writes to standard error.
    ///
    /// `label` is the logger's name.
    public static func standardError(label: String) -> JSONLogHandler {
        JSONLogHandler(label: label) { bytes in
            // Threads take turns, so that a long line stays in one piece.
            output.withLock { _ in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = unsafe rest.withUnsafeBytes { unsafe Self.write($0.baseAddress, $0.count) }
                    // If standard error takes nothing, this error cannot be reported anywhere.
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    private static let output = Mutex(())

    private static func write(_ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.write(STDERR_FILENO, bytes, count)
        #elseif canImport(Musl)
        unsafe Musl.write(STDERR_FILENO, bytes, count)
        #elseif canImport(Darwin)
        unsafe Darwin.write(STDERR_FILENO, bytes, count)
        #endif
    }

    /// Passes each line's bytes, with the line feed, to `write`, on the thread that logs.
    ///
    /// `now` is in milliseconds since 1970; nil uses the system's clock.
    public init(
        label: String,
        now: (@Sendable () -> Int64)? = nil,
        write: @escaping @Sendable (_ line: [UInt8]) -> Void
    ) {
        self.label = label
        self.now = now ?? { WallClock.milliseconds() }
        self.write = write
    }

    /// One field of every line.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Writes the line; a field of the event replaces a field of the handler with the same name.
    public func log(event: LogEvent) {
        var fields = metadata
        if let provided = metadataProvider?.get() { fields.merge(provided) { $1 } }
        if let given = event.metadata { fields.merge(given) { $1 } }
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.key("time")
        writer.string(Timestamp.text(milliseconds: now()))
        writer.key("level")
        writer.string(event.level.rawValue)
        writer.key("logger")
        writer.string(label)
        writer.key("message")
        writer.string("\(event.message)")
        writer.key("fields")
        Self.append(fields, to: &writer)
        writer.endObject()
        write(writer.bytes + [UInt8(ascii: "\n")])
    }

    private static func append(_ fields: Logger.Metadata, to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            append(value, to: &writer)
        }
        writer.endObject()
    }

    private static func append(_ value: Logger.MetadataValue, to writer: inout JSONWriter) {
        switch value {
        case .string(let text): writer.string(text)
        case .stringConvertible(let value): writer.string("\(value)")
        case .dictionary(let fields): append(fields, to: &writer)
        case .array(let values):
            writer.beginArray()
            for value in values { append(value, to: &writer) }
            writer.endArray()
        }
    }
}
