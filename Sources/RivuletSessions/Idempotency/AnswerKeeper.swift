/// Makes the answer that is stored together with what a dispatch changed.
struct AnswerKeeper {
    /// The client's key, which the log entry carries too.
    let commandID: String
    /// Renders the answer; called once, when the dispatch has been reduced.
    let keep: (DispatchAnswer) -> KeptAnswer
}
