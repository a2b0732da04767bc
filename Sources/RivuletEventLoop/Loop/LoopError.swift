internal import CLibuv
internal import Glibc

/// The error of a failed call to libuv or the kernel.
///
/// Its text is, for example, "bind 127.0.0.1:8080: EADDRINUSE address already in use".
package struct LoopError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call and its object: "bind 127.0.0.1:8080".
    package let call: String
    /// libuv's code: the negated `errno`, or one of libuv's own.
    ///
    /// Source: <https://docs.libuv.org/en/v1.x/errors.html>
    package let code: Int32

    /// Makes the error of a call with a code, which is negative.
    package init(call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// libuv's name of the code: "EADDRINUSE".
    package var name: String { unsafe String(cString: uv_err_name(code)) }
    /// libuv's message for the code: "address already in use".
    package var message: String { unsafe String(cString: uv_strerror(code)) }

    package var description: String { "\(call): \(name) \(message)" }

    /// True if the address is in use.
    package var isAddressInUse: Bool { code == UV_EADDRINUSE.rawValue }

    /// Makes the error of the call that has just set `errno`.
    static func last(_ call: String) -> LoopError { LoopError(call: call, code: -errno) }
}

/// Returns a status of libuv, or throws it if it is an error.
@discardableResult
func check(_ status: Int32, _ call: @autoclosure () -> String) throws(LoopError) -> Int32 {
    guard status < 0 else { return status }
    throw LoopError(call: call(), code: status)
}

/// Returns a result of the kernel, or throws `errno` if the result is negative.
@discardableResult
func checkErrno(_ result: Int32, _ call: @autoclosure () -> String) throws(LoopError) -> Int32 {
    guard result < 0 else { return result }
    throw LoopError.last(call())
}
