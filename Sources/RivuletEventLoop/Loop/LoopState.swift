/// What a loop's thread owns.
struct LoopState: ~Copyable {
    var connections = ConnectionTable()
    var listeners: [Listener] = []
    var signals: [SignalWatcher] = []
    var timers: TimerWheel<() -> Void>
    /// When libuv's timer ends the sleep; nil while it is not armed.
    var armedWake: UInt64?
    /// Whether a timer was scheduled that is due before `armedWake`.
    var mustArmWake = false
    var delegate: (any LoopDelegate)?
    /// The posted jobs that run in this turn; its memory is used again.
    var batch: [Mailbox.Job] = []
    var isStopping = false

    /// The state of a loop that is at this time.
    init(time: UInt64) { timers = TimerWheel(time: time) }
}
