import RivuletAuth
import RivuletEventLoop
import RivuletHTTP

/// The part of a loop that performs the requests of its connections.
protocol RequestPerformer: AnyObject {
    /// Performs a request; the answer comes now or later.
    func perform(_ admitted: AdmittedRequest, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem)

    /// Called when an answer is about to be written.
    func willAnswer()

    /// Answers a request for a stream of a caller that has used its quota.
    func refuseStream(_ id: ConnectionID, seconds: Int)

    /// Asks another node about a ticket; the reply comes later.
    func ask(_ question: TicketQuestion, reply: @escaping (Result<PeerOpening, CredentialError>) -> Void)
}
