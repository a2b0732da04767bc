internal import Synchronization

/// Immutable bytes in their own memory, which libuv can read while several connections still have to send them.
@safe
package final class SharedBytes: Sendable {
    /// A count of the bytes that are not released yet.
    package final class Account: Sendable {
        private let held = Atomic<Int>(0)

        /// Makes an empty account.
        package init() {}

        /// The number of bytes that are held now, by all threads.
        package var bytes: Int { held.load(ordering: .relaxed) }

        fileprivate func add(_ count: Int) { held.add(count, ordering: .relaxed) }
        fileprivate func remove(_ count: Int) { held.subtract(count, ordering: .relaxed) }
    }

    package let count: Int
    // SAFETY: has `count` bytes, which are written before `init` returns and never changed; they are within `memory` or
    // that of `whole`.
    nonisolated(unsafe) let base: UnsafeRawPointer
    /// The allocation of these bytes; nil for a part of other bytes.
    // SAFETY: allocated by `init`, never changed, and freed in `deinit`.
    nonisolated(unsafe) private let memory: UnsafeMutableRawPointer?
    /// The bytes that this is a part of; held so that their memory lasts as long as this object.
    private let whole: SharedBytes?
    private let account: Account?

    /// Copies the bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to send.
    ///   - account: Counts the bytes until the last holder releases them.
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

    /// Lets closures write the bytes directly into their final memory.
    ///
    /// - Parameters:
    ///   - prefixCapacity: The maximum number of bytes that `prefix` writes.
    ///   - capacity: The maximum number of bytes that `write` writes.
    ///   - account: Counts the bytes until the last holder releases them.
    ///   - write: Writes all bytes except those of the prefix.
    ///   - prefix: Writes the first bytes, which may depend on the count of the others.
    package init(
        prefixCapacity: Int = 0,
        capacity: Int,
        account: Account? = nil,
        _ write: (inout OutputSpan<UInt8>) -> Void,
        prefix: (_ count: Int, _ output: inout OutputSpan<UInt8>) -> Void = { _, _ in }
    ) {
        // SAFETY: both outputs write within the memory and end before `base` is read; `count` is the number of written
        // bytes.
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: max(prefixCapacity + capacity, 1))
        let body = unsafe UnsafeMutableBufferPointer(start: memory + prefixCapacity, count: capacity)
        var output = unsafe OutputSpan(buffer: body, initializedCount: 0)
        write(&output)
        let bodyCount = unsafe output.finalize(for: body)
        let head = unsafe UnsafeMutableBufferPointer(start: memory, count: prefixCapacity)
        output = unsafe OutputSpan(buffer: head, initializedCount: 0)
        prefix(bodyCount, &output)
        let headCount = unsafe output.finalize(for: head)
        // The prefix is moved directly before the other bytes.
        let start = unsafe memory + (prefixCapacity - headCount)
        if headCount < prefixCapacity { unsafe start.update(from: memory, count: headCount) }
        count = headCount + bodyCount
        unsafe base = UnsafeRawPointer(start)
        unsafe self.memory = UnsafeMutableRawPointer(memory)
        whole = nil
        self.account = account
        account?.add(count)
    }

    /// Makes a part of other bytes without a copy; the account of `whole` counts its bytes until the part is released.
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

    /// Appends a copy of the bytes to an array.
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
