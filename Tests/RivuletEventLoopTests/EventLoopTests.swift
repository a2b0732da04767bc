// Owns the tests of the loop itself: its turn, its mailbox, its timers, its signals, its end.

import Dispatch
import Glibc
import RivuletEventLoop
import Synchronization
import Testing

@Suite struct EventLoopTests {
    @Test func `jobs of many threads run on the loop, each thread's in order`() throws {
        let harness = try LoopHarness()
        let seen = Mutex<[[Int]]>([])
        seen.withLock { $0 = Array(repeating: [], count: 8) }
        DispatchQueue.concurrentPerform(iterations: 8) { poster in
            for number in 0..<1_000 {
                harness.loop.post { [loop = harness.loop] in
                    loop.assertOnLoop()
                    seen.withLock { $0[poster].append(number) }
                }
            }
        }
        #expect(try harness.onLoop { $0.isOnLoop })
        #expect(!harness.loop.isOnLoop)
        harness.stop()
        #expect(seen.withLock { $0 } == Array(repeating: Array(0..<1_000), count: 8))
    }

    @Test func `a job that a job posts runs in the next turn, without a wait`() throws {
        let harness = try LoopHarness()
        let order = Handover<Int>()
        harness.loop.post { [loop = harness.loop] in
            loop.post { order.put(2) }
            order.put(1)
        }
        #expect(try [order.take(), order.take()] == [1, 2])
        harness.stop()
    }

    @Test func `the delegate is called before each sleep, after the jobs of the turn`() throws {
        let log = Mutex<[String]>([])
        let harness = try LoopHarness { _, delegate in
            delegate.onSleep = { log.withLock { $0.append("sleep") } }
        }
        _ = try harness.onLoop { _ in log.withLock { $0 = ["job"] } }
        harness.stop()
        let entries = log.withLock { $0 }
        #expect(entries.prefix(2) == ["job", "sleep"])
        #expect(entries.count <= 4)
    }

    @Test func `a job runs on a work thread, and its completion runs on the loop`() throws {
        let harness = try LoopHarness()
        let places = Handover<Bool>()
        harness.loop.post { [loop = harness.loop] in
            loop.work {
                places.put(loop.isOnLoop)
            } done: {
                places.put(loop.isOnLoop)
            }
        }
        #expect(try [places.take(), places.take()] == [false, true])
        harness.stop()
    }

    @Test func `a loop that ends waits for a job and drops its completion`() throws {
        let harness = try LoopHarness()
        let (began, goesOn) = (Handover<Void>(), Handover<Void>())
        let log = Mutex<[String]>([])
        harness.loop.post { [loop = harness.loop] in
            loop.work {
                began.put(())
                _ = try? goesOn.take()
                log.withLock { $0.append("job") }
            } done: {
                log.withLock { $0.append("done") }
            }
        }
        try began.take()
        harness.loop.post { [loop = harness.loop] in
            loop.stop()
            goesOn.put(())
        }
        harness.stop()
        #expect(log.withLock { $0 } == ["job"])
    }

    @Test func `nothing runs after the loop's end, and waiting jobs are released`() throws {
        let harness = try LoopHarness()
        harness.stop()
        let isReleased = Handover<Bool>()
        let isPosted = harness.loop.post { [token = Token(isReleased)] in withExtendedLifetime(token) {} }
        #expect(!isPosted)
        #expect(try isReleased.take())
    }

    @Test func `a waiting job is released with its loop`() throws {
        let isReleased = Handover<Bool>()
        var loop: EventLoop? = try EventLoop(index: 0)
        let isPosted = loop?.post { [token = Token(isReleased)] in withExtendedLifetime(token) {} }
        #expect(isPosted == true)
        loop = nil
        #expect(try isReleased.take())
    }

    @Test func `a full mailbox refuses jobs, but accepts replies`() throws {
        var limits = LoopLimits()
        limits.postedJobsMax = 2
        let loop = try EventLoop(index: 0, limits: limits)
        let arePosted = (0..<3).map { _ in loop.post {} }
        #expect(arePosted == [true, true, false])
        #expect(loop.postReply {})
    }

    @Test func `a loop leaves no descriptor open, whether it ran, never ran or failed`() async {
        await #expect(processExitsWith: .success) {
            let harness = try LoopHarness()
            harness.stop()
            let before = try openDescriptors()
            for _ in 0..<20 {
                let loop = try EventLoop(index: 0)
                let port = try loop.listen(host: "127.0.0.1", port: 0)
                loop.post {}
                let other = try EventLoop(index: 1)
                #expect(throws: LoopError.self) { try other.listen(host: "127.0.0.1", port: port) }
                #expect(throws: LoopError.self) { try other.onSignal(SIGKILL) {} }
                let running = try LoopHarness()
                let client = try TestClient(port: running.port)
                _ = try running.nextOpened()
                running.stop()
                withExtendedLifetime(client) {}
            }
            // A thread that has just ended may still hold the descriptors of its loop. A real leak would grow with each
            // round.
            guard try openDescriptors() < before + 10 else { exit(3) }
        }
    }

    @Test func `timers run in the order of their times, and cancelled ones do not run`() throws {
        let harness = try LoopHarness()
        let order = Handover<Int>()
        let start = try harness.onLoop { loop in
            loop.schedule(after: .milliseconds(30)) { order.put(3) }
            loop.schedule(after: .milliseconds(10)) { order.put(1) }
            let cancelled = loop.schedule(after: .milliseconds(15)) { order.put(-1) }
            loop.schedule(after: .milliseconds(20)) { order.put(2) }
            loop.cancel(cancelled)
            #expect(loop.timerCount == 3)
            return loop.nowMilliseconds
        }
        #expect(try [order.take(), order.take(), order.take()] == [1, 2, 3])
        #expect(try harness.onLoop { $0.nowMilliseconds } >= start + 30)
        #expect(try harness.onLoop { $0.timerCount } == 0)
        harness.stop()
    }

    @Test func `a timer that is scheduled before run fires`() throws {
        let fired = Handover<Bool>()
        let harness = try LoopHarness { loop, _ in
            loop.schedule(after: .zero) { fired.put(loop.isOnLoop) }
        }
        #expect(try fired.take())
        harness.stop()
    }

    @Test func `a timer that falls due within the turn that schedules it is not missed`() throws {
        let harness = try LoopHarness()
        let fired = Handover<Bool>()
        _ = try harness.onLoop { loop in
            loop.schedule(after: .milliseconds(1)) { fired.put(true) }
            let clock = ContinuousClock()
            let end = clock.now + .milliseconds(5)
            while clock.now < end {}
        }
        #expect(try fired.take())
        harness.stop()
    }

    @Test func `a timer that is scheduled after a long quiet time is on time`() {
        var wheel = TimerWheel<Int>(time: 0)
        wheel.advance(to: 1_000_000)
        _ = wheel.schedule(at: 1_000_003, 1)
        #expect(wheel.nextWake() == 1_000_003)
    }

    @Test func `a signal calls its action on the loop`() throws {
        let fired = Handover<Bool>()
        let harness = try LoopHarness { loop, _ in
            do {
                try loop.onSignal(SIGUSR1) { fired.put(loop.isOnLoop) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(kill(getpid(), SIGUSR1) == 0)
        #expect(try fired.take())
        harness.stop()
    }

    @Test func `a signal that cannot be watched is an error`() throws {
        let loop = try EventLoop(index: 0)
        #expect(throws: LoopError(call: "uv_signal_start 9", code: -EINVAL)) { try loop.onSignal(SIGKILL) {} }
    }

    @Test func `a stop closes and reports every connection`() throws {
        let harness = try LoopHarness()
        let clients = try (0..<5).map { _ in try TestClient(port: harness.port) }
        let ids = try clients.map { _ in try harness.nextOpened() }
        harness.stop()
        #expect(harness.events.rest.count == 5)
        #expect(ids.allSatisfy { harness.events.rest.contains(.closed($0, .loopStopped)) })
        for client in clients { #expect(try client.receiveAll().isEmpty) }
    }
}

/// The number of descriptors that this process has open.
private func openDescriptors() throws -> Int {
    guard let folder = unsafe opendir("/proc/self/fd") else {
        throw TestClient.Failure(call: "opendir", number: errno)
    }
    defer { unsafe closedir(folder) }
    var count = 0
    while let entry = unsafe readdir(folder), unsafe entry.pointee.d_reclen > 0 { count += 1 }
    return count
}

/// Signals its release.
private final class Token: Sendable {
    private let isReleased: Handover<Bool>

    init(_ isReleased: Handover<Bool>) { self.isReleased = isReleased }

    deinit { isReleased.put(true) }
}
