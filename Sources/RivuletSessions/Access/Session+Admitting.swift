import RivuletAccess
import RivuletEngine

extension Session {
    /// Returns the events of a dispatch as the app's rule admits them; the app's own events need no admission.
    ///
    /// The log gets the returned events.
    func admitted(_ events: DecodedEvents, of dispatch: QueuedDispatch) throws(SessionError) -> DecodedEvents {
        guard state.isGuarded, dispatch.source == nil else { return events }
        do {
            var admitted = try state.admit(events, from: dispatch.sender?.caller ?? .anonymous, to: machine.head)
            admitted.records = events.records
            dispatch.input = .events(admitted)
            return admitted
        } catch let denied as DeniedEvent {
            throw .denied(denied.reason, index: dispatch.isArray ? denied.index : nil)
        } catch {
            throw failure(error)
        }
    }
}

/// The refusal of an event by the app's rule, with the event's index in its dispatch.
struct DeniedEvent: Error {
    let index: Int
    let reason: String
}
