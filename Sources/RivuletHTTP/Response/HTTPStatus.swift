/// A response status code.
///
/// Source: RFC 9110 section 15.
package struct HTTPStatus: Hashable, Sendable {
    /// The code, 100 to 599.
    package let code: UInt16

    /// Makes a status of any code; a code without a known reason phrase gets an empty phrase.
    package init(_ code: UInt16) {
        precondition((100...599).contains(code), "status code \(code) is not within 100...599")
        self.code = code
    }

    package static let `continue` = HTTPStatus(100)
    package static let ok = HTTPStatus(200)
    package static let created = HTTPStatus(201)
    package static let noContent = HTTPStatus(204)
    package static let partialContent = HTTPStatus(206)
    package static let movedPermanently = HTTPStatus(301)
    package static let seeOther = HTTPStatus(303)
    package static let notModified = HTTPStatus(304)
    package static let permanentRedirect = HTTPStatus(308)
    package static let badRequest = HTTPStatus(400)
    package static let unauthorized = HTTPStatus(401)
    package static let forbidden = HTTPStatus(403)
    package static let notFound = HTTPStatus(404)
    package static let methodNotAllowed = HTTPStatus(405)
    package static let notAcceptable = HTTPStatus(406)
    package static let requestTimeout = HTTPStatus(408)
    package static let conflict = HTTPStatus(409)
    package static let preconditionFailed = HTTPStatus(412)
    package static let contentTooLarge = HTTPStatus(413)
    package static let uriTooLong = HTTPStatus(414)
    package static let unsupportedMediaType = HTTPStatus(415)
    package static let rangeNotSatisfiable = HTTPStatus(416)
    package static let expectationFailed = HTTPStatus(417)
    package static let misdirectedRequest = HTTPStatus(421)
    package static let unprocessableContent = HTTPStatus(422)
    package static let preconditionRequired = HTTPStatus(428)
    package static let tooManyRequests = HTTPStatus(429)
    package static let requestHeaderFieldsTooLarge = HTTPStatus(431)
    package static let internalServerError = HTTPStatus(500)
    package static let notImplemented = HTTPStatus(501)
    package static let serviceUnavailable = HTTPStatus(503)
    package static let gatewayTimeout = HTTPStatus(504)
    package static let httpVersionNotSupported = HTTPStatus(505)
    package static let insufficientStorage = HTTPStatus(507)

    /// True if a response with this status never has a body.
    ///
    /// Source: RFC 9110 section 6.4.1.
    package var forbidsBody: Bool { code < 200 || code == 204 || code == 304 }

    /// The reason phrase; empty for a code that is not in this list.
    package var reason: String {
        switch code {
        case 100: "Continue"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 507: "Insufficient Storage"
        default: ""
        }
    }
}
