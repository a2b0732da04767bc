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
    // SAFETY: has `count` bytes, all of them written before `init` returns and none after; within `memory` or that of `whole`.
    nonisolated(unsafe) let base: UnsafeRawPointer
    /// Nil for a part of others.
    // SAFETY: allocated by `init`, never changed, and freed in `deinit`.
    nonisolated(unsafe) private let memory: UnsafeMutableRawPointer?
    /// Whose memory this is a part of, held so that it lasts as long as this object.
    private let whole: SharedBytes?
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
        unsafe self.memory = memory
        whole = nil
        self.account = account
        account?.add(count)
    }

    /// Has the bytes written at once where they stay.
    ///
    /// - Parameters:
    ///   - prefixCapacity: The most bytes that `prefix` writes.
    ///   - capacity: The most bytes that `write` writes.
    ///   - account: Counts the bytes until the last holder releases them.
    ///   - write: Writes all bytes but the first ones.
    ///   - prefix: Writes the bytes before those, which may depend on their count.
    package init(
        prefixCapacity: Int = 0,
        capacity: Int,
        account: Account? = nil,
        _ write: (inout OutputSpan<UInt8>) -> Void,
        prefix: (_ count: Int, _ output: inout OutputSpan<UInt8>) -> Void = { _, _ in }
    ) {
        // SAFETY: both outputs write within the memory and end before `base` is read; `count` is what they have written.
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(prefixCapacity + capacity, 1))
        let body = unsafe UnsafeMutableBufferPointer(start: memory + prefixCapacity, count: capacity)
        var output = unsafe OutputSpan(buffer: body, initializedCount: 0)
        write(&output)
        let bodyCount = unsafe output.finalize(for: body)
        let head = unsafe UnsafeMutableBufferPointer(start: memory, count: prefixCapacity)
        output = unsafe OutputSpan(buffer: head, initializedCount: 0)
        prefix(bodyCount, &output)
        let headCount = unsafe output.finalize(for: head)
        // The prefix is moved up to the bytes that it precedes.
        let start = unsafe memory + (prefixCapacity - headCount)
        if headCount < prefixCapacity { unsafe start.update(from: memory, count: headCount) }
        count = headCount + bodyCount
        unsafe base = UnsafeRawPointer(start)
        unsafe self.memory = UnsafeMutableRawPointer(memory)
        whole = nil
        self.account = account
        account?.add(count)
    }

    /// A part of other bytes, without a copy; `whole` counts in its account until the part is released.
    package init(_ range: Range<Int>, of whole: SharedBytes) {
        precondition(range.lowerBound >= 0 && range.upperBound <= whole.count, "\(range) is not within \(whole.count)")
        count = range.count
        unsafe base = whole.base + range.lowerBound
        unsafe memory = nil
        self.whole = whole
        account = nil
    }

    /// Copies the bytes.
    package convenience init(_ bytes: [UInt8], account: Account? = nil) { self.init(bytes.span, account: account) }

    deinit {
        unsafe memory?.deallocate()
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
