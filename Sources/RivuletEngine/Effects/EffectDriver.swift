/// The session or manager that a driver runs effects for.
///
/// Every call is on the executor's thread.
package protocol EffectHost<Event>: AnyObject {
    associatedtype Event: AppEvent

    /// Queues an event that an effect dispatched.
    ///
    /// - Returns: The reason that the event was dropped; nil if the event is queued.
    func enqueue(_ event: Event, from source: EffectSource) -> EffectError?
    /// Continues with the event queue if no effect holds it.
    func drive()
}

/// Carries out the decisions of an ``EffectScheduler``: starts and cancels tasks, sets one alarm for all timers,
/// queues events.
///
/// It is bound to its executor's thread. Its tasks run on other threads and return by `postReply`.
package final class EffectDriver<Event: AppEvent> {
    private let surroundings: EffectSurroundings
    private weak var host: (any EffectHost<Event>)?
    /// Reports an error of an effect, with the name of the event that had the effect, even if the host is gone.
    private let report: (_ error: EffectError, _ eventName: String) -> Void
    private var scheduler: EffectScheduler<Event>
    private var works: [EffectTaskID: Work] = [:]
    private var alarm: (deadline: Duration, task: Task<Void, Never>)?
    private var isStopped = false
    private var hasReportedLate = false
    /// The time of the last report that the event queue was full.
    private var fullReported: Duration?

    /// A running work.
    private struct Work {
        let task: Task<Void, Never>
        let life: EffectLife
    }

    package init(
        _ surroundings: EffectSurroundings,
        host: any EffectHost<Event>,
        report: @escaping (_ error: EffectError, _ eventName: String) -> Void
    ) {
        self.surroundings = surroundings
        self.host = host
        self.report = report
        scheduler = EffectScheduler(limits: surroundings.limits)
    }

    /// True if the next event waits for an effect.
    package var isHoldingQueue: Bool { scheduler.isHoldingQueue }

    /// True if no effect runs or waits for its time.
    package var isIdle: Bool { scheduler.isIdle }

    /// True if a work has not returned.
    package var isWorking: Bool { !works.isEmpty }

    /// The names of the events with effects that run or have not begun, in the order of the events.
    package var eventNamesUnderWay: [String] { scheduler.eventNamesUnderWay }

    /// Begins the effects of one dispatch, as `EffectScheduler.begin` does.
    ///
    /// The caller continues with the queue itself.
    package func begin(_ effects: [EventEffect<Event>], chain: EffectChain? = nil) {
        perform(scheduler.begin(effects, chain: chain, now: surroundings.clock.now))
    }

    /// Marks a timer's tick as processed.
    package func tickDidEnd(_ id: EffectTaskID) {
        scheduler.tickDidEnd(id)
    }

    /// Cancels all effects.
    ///
    /// Later events of the effects are dropped, with one line in the log.
    package func stop() {
        guard !isStopped else { return }
        isStopped = true
        perform(scheduler.stop())
    }

    // MARK: - Actions

    private func perform(_ actions: [EffectScheduler<Event>.Action]) {
        for action in actions {
            switch action {
            case .dispatch(let event, let source): enqueue(event, from: source)
            case .start(let id, let work, let source): start(work, id, source)
            case .cancel(let id): cancel(id)
            case .report(let error, let eventName): report(error, eventName)
            }
        }
        setAlarm()
    }

    private func enqueue(_ event: Event, from source: EffectSource) {
        guard let error = host.map({ $0.enqueue(event, from: source) }) ?? .late else { return }
        if let tick = source.tick { scheduler.tickDidEnd(tick) }
        drop(source, because: error)
    }

    /// Reports a dropped event: once if the session is gone, and at most every second if its queue is full.
    private func drop(_ source: EffectSource, because error: EffectError) {
        if case .late = error {
            guard !hasReportedLate else { return }
            hasReportedLate = true
        } else {
            let now = surroundings.clock.now
            if let fullReported, now < fullReported + .seconds(1) { return }
            fullReported = now
        }
        report(error, source.eventName)
    }

    private func start(_ work: Effect<Event>.Work, _ id: EffectTaskID, _ source: EffectSource) {
        let loopBound = LoopBound(self, to: surroundings.executor)
        let life = EffectLife(eventsMax: surroundings.limits.queuedDispatchesMax)
        let dispatch = EffectDispatch<Event>(clock: surroundings.clock.clock) { event in
            guard life.admit() else { return }
            loopBound.postReply { $0.receive(event, from: source, life) }
        }
        let task = Task(executorPreference: surroundings.taskExecutor) {
            var failure: (any Error)?
            do {
                try await work.run(dispatch)
            } catch {
                failure = error
            }
            loopBound.postReply { [failure] in $0.workDidEnd(id, failure, source, life) }
        }
        works[id] = Work(task: task, life: life)
    }

    private func cancel(_ id: EffectTaskID) {
        guard let work = works.removeValue(forKey: id) else { return }
        work.life.cancel()
        work.task.cancel()
    }

    // MARK: - Results of works

    private func receive(_ event: Event, from source: EffectSource, _ life: EffectLife) {
        if life.didArrive() { drop(source, because: .queueFull(limit: surroundings.limits.queuedDispatchesMax)) }
        guard !isStopped else { return drop(source, because: .late) }
        guard !life.isCancelled else { return }
        enqueue(event, from: source)
        host?.drive()
    }

    private func workDidEnd(_ id: EffectTaskID, _ failure: (any Error)?, _ source: EffectSource, _ life: EffectLife) {
        works[id] = nil
        if let failure, !(failure is CancellationError), !life.isCancelled {
            report(.failed(failure), source.eventName)
        }
        perform(scheduler.workDidEnd(id, isDone: failure == nil, now: surroundings.clock.now))
        host?.drive()
    }

    // MARK: - Time

    /// Sets the alarm for the next deadline.
    ///
    /// If the alarm rings too early, it is set again.
    private func setAlarm() {
        guard let deadline = scheduler.nextDeadline else {
            alarm?.task.cancel()
            alarm = nil
            return
        }
        if let alarm, alarm.deadline <= deadline { return }
        alarm?.task.cancel()
        let loopBound = LoopBound(self, to: surroundings.executor)
        let clock = surroundings.clock
        let task = Task(executorPreference: surroundings.taskExecutor) {
            do {
                try await clock.sleep(until: deadline)
            } catch {
                // Cancelled: another alarm replaces this one, or no alarm is needed.
                return
            }
            loopBound.postReply { $0.alarmDidRing(deadline) }
        }
        alarm = (deadline, task)
    }

    private func alarmDidRing(_ deadline: Duration) {
        // An alarm that was replaced while it rang is ignored.
        guard alarm?.deadline == deadline else { return }
        alarm = nil
        perform(scheduler.alarmDidRing(now: surroundings.clock.now))
        host?.drive()
    }
}
