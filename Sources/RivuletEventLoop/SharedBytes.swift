// Part of Rivulet. See README.md for the architecture.
// Owns bytes that many connections are sent.

internal import Synchronization

/// Bytes that nobody changes, in memory of their own, so that libuv may read them while several connections still have to send them.
@safe
package final class SharedBytes: Sendable {
    /// Counts the memory of bytes that are not given back yet.
    package final class Account: Sendable {
        private let held = Atomic<Int>(0)

        /// An account of nothing.
        package init() {}

        /// The bytes that are held now, by whatever thread.
        package var bytes: Int { held.load(ordering: .relaxed) }

        fileprivate func add(_ count: Int) { held.add(count, ordering: .relaxed) }
        fileprivate func remove(_ count: Int) { held.subtract(count, ordering: .relaxed) }
    }

    package let count: Int
    // SAFETY: has `count` bytes, all of them written before `init` returns and none after; freed in `deinit`.
    nonisolated(unsafe) let base: UnsafeRawPointer
    private let account: Account?

    /// Copies the bytes.
    ///
    /// - Parameters:
    ///   - bytes: What is to be sent.
    ///   - account: Counts them as long as somebody holds them.
    package init(_ bytes: Span<UInt8>, account: Account? = nil) {
        count = bytes.count
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 1), alignment: 16)
        unsafe bytes.withUnsafeBytes { source in
            if let start = source.baseAddress { unsafe memory.copyMemory(from: start, byteCount: source.count) }
        }
        unsafe base = UnsafeRawPointer(memory)
        self.account = account
        account?.add(count)
    }

    /// Has them written at once where they stay.
    ///
    /// - Parameters:
    ///   - capacity: The most that is written.
    ///   - account: Counts them as long as somebody holds them.
    ///   - write: Writes them.
    package init(capacity: Int, account: Account? = nil, _ write: (inout OutputSpan<UInt8>) -> Void) {
        // SAFETY: `output` writes within `capacity` and ends before `base` is read; `count` is what it has written.
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(capacity, 1))
        let buffer = unsafe UnsafeMutableBufferPointer(start: memory, count: capacity)
        var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
        write(&output)
        count = unsafe output.finalize(for: buffer)
        unsafe base = UnsafeRawPointer(memory)
        self.account = account
        account?.add(count)
    }

    /// Copies the bytes.
    package convenience init(_ bytes: [UInt8], account: Account? = nil) { self.init(bytes.span, account: account) }

    deinit {
        unsafe base.deallocate()
        account?.remove(count)
    }

    /// Copies the bytes to the end of others.
    package func append(to bytes: inout [UInt8]) {
        // SAFETY: the memory lasts as long as this object.
        unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Calls `body` with the bytes.
    package func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        let buffer = unsafe UnsafeBufferPointer(start: base.assumingMemoryBound(to: UInt8.self), count: count)
        return unsafe body(buffer.span)
    }
}
