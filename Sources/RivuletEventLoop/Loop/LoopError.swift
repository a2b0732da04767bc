internal import CLibuv
internal import Glibc

/// A call to libuv or the kernel that failed.
///
/// Reads as "bind 127.0.0.1:8080: EADDRINUSE address already in use".
package struct LoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call, and what it was made on: "bind 127.0.0.1:8080".
    package let call: String
    /// libuv's code: the negated `errno`, or one of libuv's own. Source: <https://docs.libuv.org/en/v1.x/errors.html>
    package let code: Int32

    /// An error of this call with this code, which is negative.
    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// libuv's name of the code: "EADDRINUSE".
    package var name: String { unsafe String(cString: uv_err_name(code)) }
    /// libuv's words for the code: "address already in use".
    package var message: String { unsafe String(cString: uv_strerror(code)) }

    package var description: String { "\(call): \(name) \(message)" }

    /// Whether the address is taken.
    package var isAddressInUse: Bool { code == UV_EADDRINUSE.rawValue }

    /// An error of the call that has just set `errno`.
    static func last(_ call: String) -> LoopError { LoopError(call: call, code: -errno) }
}

/// Passes on a status of libuv, or throws it when it is an error.
@discardableResult
func check(_ status: Int32, _ call: @autoclosure () -> String) throws(LoopError) -> Int32 {
    guard status < 0 else { return status }
    throw LoopError(call: call(), code: status)
}

/// Passes on a result of the kernel, or throws `errno` when it is -1.
@discardableResult
func checkErrno(_ result: Int32, _ call: @autoclosure () -> String) throws(LoopError) -> Int32 {
    guard result < 0 else { return result }
    throw LoopError.last(call())
}
