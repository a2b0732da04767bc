import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The creation of a session with a state, or with the defaults.
struct Creation: SessionAct {
    let scope = SessionScope.any
    let state: JSONReader?
    let isStrict: Bool
    /// The owner of the new session; nil if the caller gave no credential.
    let owner: String?
    /// True if an existing session is a conflict.
    let isPost: Bool
    /// The caller to which the session counts; nil without limits.
    let creator: LimitKey?
    /// True if the caller may see the description of an existing session.
    let showsExisting: Bool

    func act(on session: Session, _ responder: Responder) {
        let charge: CreationCharge?
        do throws(Problem) {
            charge = try responder.charge(session, to: creator)
        } catch {
            return responder.send(Response(error))
        }
        session.create(state: state, isStrict: isStrict, owner: owner) { result in
            if case .success(.created) = result {} else { charge?.giveBack() }
            responder.send(result.flatMap(response)) { $0 }
        }
    }

    private func response(to answer: CreateAnswer) -> Result<Response, SessionError> {
        switch answer {
        case .existed(let info):
            guard !isPost else { return .failure(.exists(info.key)) }
            return .success(showsExisting ? .json(info.json()) : Response(.noContent))
        case .created(let info, let coerced):
            let location = HTTPField("Location", "/v1/apps/\(info.key.app)/sessions/\(info.key.id)")
            return .success(.json(info.json(coerced: coerced), status: .created, fields: [location]))
        }
    }
}
