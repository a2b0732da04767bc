/// The texts of the page about a `ProblemType`.
struct ProblemTable {
    /// The type's `title` in problem documents.
    let title: String
    let cause: String
    let remedy: String

    private init(_ title: String, _ cause: String, _ remedy: String) {
        (self.title, self.cause, self.remedy) = (title, cause, remedy)
    }

    /// The row of a type: title, cause and remedy.
    static func row(of type: ProblemType) -> ProblemTable {
        switch type {
        case .malformedRequest:
            ProblemTable(
                "The request is not valid HTTP",
                "The request line, a header line or the framing of the body breaks the rules of HTTP/1.1, so the server cannot tell what is asked.",
                "Compare the request with `detail`. A request by hand needs a Host header, and CR LF at the end of each line."
            )
        case .malformedBody:
            ProblemTable(
                "The body cannot be read",
                "The body is not JSON, and `errors` has the position. Or a body of lines has no line.",
                "Send JSON in UTF-8, or one event per line. Nothing has changed."
            )
        case .unexpectedBody:
            ProblemTable(
                "The method takes no body",
                "The request has a body, and its method takes none on this resource.",
                "Send the request without a body. Nothing has changed."
            )
        case .invalidQuery:
            ProblemTable(
                "A query parameter cannot be used",
                "A query parameter is unknown, occurs twice, is missing, or has a value that this resource does not take.",
                "`detail` names the parameter and the values that it takes. Nothing has changed."
            )
        case .invalidKeyPath:
            ProblemTable(
                "The key path cannot exist",
                "The key path is no JSON Pointer, or the state or the view can have no value there.",
                "GET /v1/apps/{app} lists the fields of the state and the views. Nothing has changed."
            )
        case .invalidSessionID:
            ProblemTable(
                "The session id cannot be used",
                "A session id is 1 to 128 letters, digits, \"_\" or \"-\". The id \"me\" is reserved, and an id in the body must be the path's.",
                "Choose another id, or leave it out of a POST for a fresh one. Nothing has changed."
            )
        case .invalidCondition:
            ProblemTable(
                "The condition cannot be used",
                "If-Match or If-None-Match has no tag in quotes, or the resource takes no such condition.",
                "Send the ETag of an earlier answer as it is, quotes included, or leave the condition out. Nothing has changed."
            )
        case .invalidIdempotencyKey:
            ProblemTable(
                "The Idempotency-Key cannot be used",
                "An Idempotency-Key is one string of printable ASCII characters in quotes, within the length that `detail` names.",
                "Send a key such as \"8e03978e-40d5\", quotes included. Nothing has changed."
            )
        case .keyNotKept:
            ProblemTable(
                "The resource has no idempotency records",
                "The request has an Idempotency-Key, but the resource would apply a retry once more.",
                "Send the request without a key. Nothing has changed."
            )
        case .unexpectedState:
            ProblemTable(
                "A fork takes no state",
                "The body of a fork has a `state`. The fork begins with the state of the other session.",
                "Leave `state` out, or create a session with PUT or POST. Nothing has changed."
            )
        case .streamTooLarge:
            ProblemTable(
                "The snapshot is too large for a stream",
                "The values at the watched paths have more bytes than a stream is sent at once.",
                "Watch fewer or narrower key paths."
            )
        case .credentialMisplaced:
            ProblemTable(
                "The credential is in the wrong place",
                "The request has two Authorization headers, or its URL has a credential, which logs would keep.",
                "Send one header, Authorization: Bearer, with the token or the API key. Nothing has changed."
            )
        case .unauthorized:
            ProblemTable(
                "A valid credential is needed",
                "The request has no credential, and its resource needs one. Or the credential is expired, revoked, or not one of this server's. The server's log has the reason.",
                "Send Authorization: Bearer with a token or an API key. `rivulet token inspect -` shows what is wrong with a token. Nothing has changed."
            )
        case .notGranted:
            ProblemTable(
                "The caller may not do this",
                "The credential is valid, and its grants do not cover this request. `needs` has the action that is missing, and its place.",
                "Ask the operator for the grant: in the token, in a role of the policy file, or in the file of API keys. Nothing has changed."
            )
        case .crossSite:
            ProblemTable(
                "The page's origin is not allowed",
                "A web page of another site sent the request, and the server does not allow the origin of that page. Or the page cannot sign in, because its browser would keep no cookie.",
                "The operator starts the server with --allowed-origins and the page's origin. Nothing has changed."
            )
        case .unknownCaller:
            ProblemTable(
                "The session \"me\" is not served to this page",
                "The session \"me\" is named by a cookie. A browser keeps no such cookie for a page of another site, and an origin that is allowed by \"*\" gets none.",
                "Serve the page and Rivulet under one host name, list the origin by name, or use a session id. Nothing has changed."
            )
        case .internalEvent:
            ProblemTable(
                "The event is internal",
                "The app marks the event as internal: its effects and its own code dispatch it, and no client does.",
                "Dispatch one of the events that GET /v1/apps/{app} lists. Nothing has changed."
            )
        case .notFound:
            ProblemTable(
                "Nothing is at this address",
                "The path names no resource of the server, no store, value or secret of the app, and no file of the public folder. `toggle` exists only for boolean values.",
                "Compare the path with /openapi.json. GET /v1/apps/{app} lists the stores, the values and the secrets of an app."
            )
        case .appNotFound:
            ProblemTable(
                "The server hosts no such app",
                "The path names an app that this server does not host.",
                "GET /v1/apps lists the hosted apps."
            )
        case .sessionNotFound:
            ProblemTable(
                "The session does not exist",
                "No session of the app has this id, and the app does not make sessions on demand for this request.",
                "Create the session with PUT."
            )
        case .valueNotFound:
            ProblemTable(
                "The state has no value at the key path",
                "The state can have a value at the key path, but this session has none there now. Elements are addressed by their id.",
                "Read a shorter key path to see what is there."
            )
        case .viewNotFound:
            ProblemTable(
                "The app has no such view",
                "The path names a view that the app does not declare.",
                "GET /v1/apps/{app} lists the views."
            )
        case .versionNotFound:
            ProblemTable(
                "The session has no such version yet",
                "The version is newer than the newest one of the session.",
                "Read the session for its newest version."
            )
        case .streamNotFound:
            ProblemTable(
                "The stream does not exist",
                "The stream has ended, or its client has reconnected, which makes another stream.",
                "GET /v1/streams lists the open streams. A client finds the name of its stream in the snapshot."
            )
        case .itemNotFound:
            ProblemTable(
                "The store has no such item",
                "No item of the store has this identifier.",
                "GET the store for its items."
            )
        case .methodNotAllowed:
            ProblemTable(
                "The resource does not have this method",
                "The path names a resource, but the resource does not have the request's method.",
                "`Allow` lists the methods."
            )
        case .keyPathNotBound:
            ProblemTable(
                "No event is bound to the key path",
                "The app declares no binding for the key path, so the value there changes by events only.",
                "Dispatch an event, or write one of the key paths that `detail` names."
            )
        case .notAcceptable:
            ProblemTable(
                "No representation is acceptable",
                "The request's Accept header excludes each media type of the resource.",
                "Accept the media type that `detail` names, or send no Accept."
            )
        case .requestTimeout:
            ProblemTable(
                "The request came too slowly",
                "The head or the body did not arrive in time, or the body made too little progress while other requests waited.",
                "Send the request again. Nothing has changed."
            )
        case .sessionExists:
            ProblemTable(
                "The session exists already",
                "A POST was to create a session with an id that another session has.",
                "Choose another id, or leave it out for a fresh one. Nothing has changed."
            )
        case .sessionBeingDeleted:
            ProblemTable(
                "The session is being deleted",
                "A request to delete the session is not finished.",
                "Try again after `Retry-After`."
            )
        case .keyInUse:
            ProblemTable(
                "A request with this Idempotency-Key is under way",
                "The first request with the key has no answer yet.",
                "Try again after `Retry-After`; the retry gets the first request's answer."
            )
        case .streamWithoutPaths:
            ProblemTable(
                "The stream has no key paths",
                "A stream of a store or a value always has all items, or the whole value.",
                "Open a stream of a session or a view."
            )
        case .versionGone:
            ProblemTable(
                "The version is no longer kept",
                "The session's log begins after this version: `oldest` is the first one that can be read.",
                "Read `oldest` or a later version."
            )
        case .pageGone:
            ProblemTable(
                "The page has lost its beginning",
                "The item after which the page was to begin has been removed.",
                "Begin with the first page."
            )
        case .preconditionFailed:
            ProblemTable(
                "The condition does not hold",
                "The session, the store, the value or the item does not have a tag that the condition allows. `cursor` and `value` show the current state of a session or a value. A store has only `cursor`. An item has only `value`. A missing item has neither.",
                "Begin again from `value`, or read the list or the item. Then send the request with the new tag. For a session that is not stored yet, that is the first two parts of `cursor` in quotes. Nothing has changed."
            )
        case .bodyTooLarge:
            ProblemTable(
                "The body is too large",
                "The body has more bytes or more lines than one request may have.",
                "Send several smaller requests. `detail` names the limit, which an operator can raise. Nothing has changed."
            )
        case .answersTooLarge:
            ProblemTable(
                "The answers of the request are too large",
                "The answers to the earlier lines of the request fill the memory for answers, so this line was not dispatched.",
                "Send this line and the rest in another request, or ask for Prefer: return=minimal."
            )
        case .changeTooLarge:
            ProblemTable(
                "The change is too large for storage",
                "The change has more bytes than storage takes at once.",
                "Make several smaller changes. Nothing has changed."
            )
        case .targetTooLong:
            ProblemTable(
                "The request target is too long",
                "The path and the query have more bytes than a request may have.",
                "Send fewer query parameters. Nothing has changed."
            )
        case .unsupportedContentType:
            ProblemTable(
                "The resource does not take this content type",
                "The Content-Type is missing, or the resource does not take it.",
                "Send JSON with Content-Type: application/json. To a resource that takes no body, send no body and no Content-Type. Nothing has changed."
            )
        case .unsupportedContentEncoding:
            ProblemTable(
                "The server decodes no bodies",
                "The body has a Content-Encoding.",
                "Send the body as it is, without a Content-Encoding. Nothing has changed."
            )
        case .rangeNotSatisfiable:
            ProblemTable(
                "The file has none of these bytes",
                "The Range begins after the end of the file.",
                "`Content-Range` has the length of the file."
            )
        case .expectationFailed:
            ProblemTable(
                "The expectation cannot be met",
                "The request has an Expect header with something other than 100-continue.",
                "Send no Expect header."
            )
        case .misdirectedRequest:
            ProblemTable(
                "The server does not answer for this host",
                "The Host header is none of the names that the server knows as its own.",
                "The operator starts the server with --allowed-hosts and the name. Nothing has changed."
            )
        case .invalidBody:
            ProblemTable(
                "The body does not have the right shape",
                "The body is JSON, but its members or values do not fit the resource. `errors` points to them.",
                "GET /v1/apps/{app} has the schemas of the app. Nothing has changed."
            )
        case .eventRejected:
            ProblemTable(
                "The app rejected the event",
                "The reducer of the app refused the event. `detail` is the app's own message; `errors` names the event of an array.",
                "Send another event. Nothing has changed; an array is rejected as a whole."
            )
        case .coercionRefused:
            ProblemTable(
                "The values would be coerced",
                "The request has strict=1, and wrappers would change the values that `errors` names.",
                "Send values within the limits, or leave strict out. Nothing has changed."
            )
        case .noJSONForm:
            ProblemTable(
                "A value has no form in JSON",
                "The event or the item leads to a number that is not finite, such as NaN.",
                "Send other values. Nothing has changed."
            )
        case .loginRefused:
            ProblemTable(
                "The credential cannot be in a cookie",
                "A page signs in with an API key, with a token that is too long for a cookie, or over a connection without TLS.",
                "Sign in with a short token over https, or send Authorization: Bearer with each request. Nothing has changed."
            )
        case .keyReused:
            ProblemTable(
                "The Idempotency-Key was used for another request",
                "An earlier request with this key had another method, path, body or option.",
                "Send a new key with each new request. A retry repeats the key and the whole request. Nothing has changed."
            )
        case .quotaExceeded:
            ProblemTable(
                "A quota is used",
                "The caller or its address has sent more than a limit of the server admits. Or requests with Idempotency-Keys have filled the session's room for idempotency records.",
                "Come back after `Retry-After`. `violated-policies` has the name of the limit, and GET /v1/me lists the limits. Nothing has changed."
            )
        case .headTooLarge:
            ProblemTable(
                "The header block is too large",
                "The header lines, or the trailer lines of a chunked body, have more bytes than a request may have.",
                "Send fewer or shorter headers; large cookies are the usual cause. Nothing has changed."
            )
        case .appFailed:
            ProblemTable(
                "The app failed",
                "The code of the app threw an error that is not a rejection. The server's log has it.",
                "Report it to the author of the app. Nothing has changed."
            )
        case .sessionUnreadable:
            ProblemTable(
                "The stored session cannot be read",
                "The session's records are damaged, or no migration leads from them to the running app. Other sessions are not affected.",
                "An operator repairs or deletes the session. Nothing has changed."
            )
        case .storedValueUnreadable:
            ProblemTable(
                "The stored item or value cannot be read",
                "The record of the item or the value is damaged, or is not of the type that the running app declares. Other items are not affected.",
                "Write the item or the value anew, or delete it. Nothing has changed."
            )
        case .keptAnswerUnreadable:
            ProblemTable(
                "The idempotency record cannot be read",
                "The first request with this Idempotency-Key took effect, and the record of its answer is damaged.",
                "Read the session to see the effect."
            )
        case .storageIndeterminate:
            ProblemTable(
                "The change may or may not be stored",
                "Storage failed while it was writing.",
                "Read before you retry. The server's log has the cause under `trace_id`."
            )
        case .storageDamaged:
            ProblemTable(
                "The storage is damaged",
                "The database, or a whole collection in it, cannot be read.",
                "An operator stops the server and restores the data folder from a backup. Nothing has changed."
            )
        case .storageIncompatible:
            ProblemTable(
                "The storage does not fit this server",
                "Another version of the server, or another program, wrote the data folder.",
                "An operator starts the version that wrote the folder. The server's log has the cause under `trace_id`."
            )
        case .serverFault:
            ProblemTable(
                "The server failed",
                "An error of the server, which its log has under `trace_id`.",
                "Report it with the log line."
            )
        case .notImplemented:
            ProblemTable(
                "The server does not know the method or the coding",
                "The method is not a standard method of HTTP, or the body has a transfer coding other than chunked.",
                "Use a method of the resource, and Content-Length or chunked."
            )
        case .overloaded:
            ProblemTable(
                "The server has no room for the request",
                "A queue of the session, the store or the server is full, or the memory for request bodies is full.",
                "Try again after `Retry-After`. Nothing has changed."
            )
        case .serverStopping:
            ProblemTable(
                "The server is stopping",
                "The server takes no more work; it stops, or its successor is about to start.",
                "Try again after `Retry-After`."
            )
        case .storageUnavailable:
            ProblemTable(
                "The storage is unavailable",
                "Storage cannot take the change now; the server's log has the cause under `trace_id`.",
                "Try again after `Retry-After`. Nothing has changed."
            )
        case .secretsUnavailable:
            ProblemTable(
                "Secrets cannot be sealed or opened",
                "The server has no key for secrets, or the key does not fit. Only secrets are affected.",
                "An operator gives the server its key. Nothing has changed."
            )
        case .notReady:
            ProblemTable(
                "The server is not ready",
                "The readiness check found that storage cannot be written, or that the node of a cluster takes no requests now.",
                "Send requests to another instance until the check succeeds. The server's log has the cause under `trace_id`."
            )
        case .ownerUnavailable:
            ProblemTable(
                "No node of the cluster can answer now",
                "The node that has the data is gone or cannot be reached, and no other node has taken its place yet.",
                "Try again after `Retry-After`. Nothing has changed."
            )
        case .outcomeUnknown:
            ProblemTable(
                "The outcome of the change is not known",
                "The node that has the data took the request, and no answer of it came. The change may have taken effect.",
                "Send the request again with the same `Idempotency-Key`, which gets the first answer if there was one. Without a key, read first."
            )
        case .nodeHalted:
            ProblemTable(
                "The node has halted",
                "The node takes no part in its cluster any more; its log names the reason and the remedy.",
                "Send requests to another node. Nothing has changed."
            )
        case .httpVersionNotSupported:
            ProblemTable(
                "The server does not speak this version of HTTP",
                "The request line has a version other than HTTP/1.1 and HTTP/1.0.",
                "Send HTTP/1.1."
            )
        case .stateFull:
            ProblemTable(
                "The session's state is as large as it may be",
                "The change would make the state larger than its limit.",
                "Remove something from the state first. Nothing has changed."
            )
        case .diskFull:
            ProblemTable(
                "The disk is full",
                "The data folder's disk has no space left.",
                "An operator frees some space. Nothing has changed."
            )
        case .memoryFull:
            ProblemTable(
                "The memory for sessions is full",
                "The server keeps nothing on disk, and its sessions with their logs take as much memory as they may.",
                "Delete sessions, or have an operator start the server with a data folder. Nothing has changed."
            )
        case .storeFull:
            ProblemTable(
                "The store is as large as it may be",
                "The items would have more bytes than the store's limit, or the database holds as many collections as it may.",
                "Remove some items first. Nothing has changed."
            )
        case .revocationsFull:
            ProblemTable(
                "The list of revocations is full",
                "The server keeps at most 100,000 revocations. A revocation is dropped when the tokens that it covers have expired.",
                "DELETE revocations that are not needed, then send the request again. Nothing has changed."
            )
        case .quota:
            ProblemTable(
                "The app or the owner has as much as it may",
                "The app's quota limits its sessions and their stored bytes, for the whole app or for each owner. `quota` names the limit.",
                "Delete sessions, which always succeeds, or have the app's author raise the quota. Nothing has changed."
            )
        }
    }
}
