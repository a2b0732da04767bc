extension Session {
    /// Sends the changes of a dispatch that is now visible to the streams, acknowledges it, then begins its effects.
    func publish(_ dispatch: PendingDispatch, over old: SessionTimeline.Seen) {
        let outcome = dispatch.outcome
        // The change goes to the streams first: the snapshot of a client that subscribes after the answer already has
        // it. The answer is written at once; stream events are written at the end of the event loop's turn. If only one
        // stream has events, its event loop writes them before the answer.
        if dispatch.isVisible { streams.publish(outcome.changes, over: old, standing) }
        if let mismatch = outcome.mismatch {
            reply(to: dispatch.reply, mismatch, outcome.sender)
        } else {
            dispatch.reply(.success(answer(to: dispatch)))
        }
        if let effects = outcome.effects { begin(effects, chain: outcome.chain) }
    }

    func answer(to dispatch: PendingDispatch) -> DispatchAnswer {
        machine.answer(to: dispatch, survivesPowerLoss: environment.storage.capabilities.survivesPowerLoss)
    }
}
