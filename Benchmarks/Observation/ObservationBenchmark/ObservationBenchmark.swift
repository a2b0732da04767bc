// This file owns the micro-benchmark of observation: the cost of writes, runs and reads, beside a plain struct.

import Observation
import RivuletObservation

/// Prints nanoseconds and allocations of each operation, as the best of several rounds. Arguments choose sections by
/// words of their titles.
@main
enum ObservationBenchmark {
    static let many = 1_000_000
    static let some = 100_000
    static let few = 10_000

    static func main() {
        print(Measurement.pad("operation", 58) + "          ns allocations")
        section("writes: plain struct", plainWrites())
        section("writes: tracked, no recorder", trackedWrites(inRun: false))
        section("writes: tracked, inside of a run", trackedWrites(inRun: true))
        section("one run and its encoded change", runs())
        section("collections", collections())
        section("reads", reads())
    }

    private static func section(_ title: String, _ measurements: @autoclosure () -> [Measurement]) {
        let wanted = CommandLine.arguments.dropFirst()
        guard wanted.isEmpty || wanted.contains(where: title.contains) else { return }
        print("\n\(title)")
        for measurement in measurements() { print("  " + measurement.row) }
    }

    // MARK: - Writes

    private static func plainWrites() -> [Measurement] {
        var state = hide(Plain())
        for id in 0..<1024 { state.items[id] = PlainItem(id: id) }
        let list = Array(0..<100_000)
        return [
            write("Int, set", many, &state) { $0.count = $1 },
            write("Int, +=", many, &state) { state, _ in state.count &+= 1 },
            write("Int, depth 3, set", many, &state) { $0.profile.address.zip = $1 },
            write("element of 1,024 by id, set (Dictionary)", many, &state) { $0.items[$1 & 1023]?.done.toggle() },
            write("append to an array of 100,000", some, &state, { $0.list = list }, { $0.list.append($1) }),
            write("String +=", some, &state, { $0.title = "x" }, { state, _ in state.title += "y" }),
        ]
    }

    private static func trackedWrites(inRun: Bool) -> [Measurement] {
        var state = hide(Tracked())
        for id in 0..<1024 { state.items.append(Item(id: id)) }
        let list = Array(0..<100_000)
        return [
            write("Int, set", many, &state, inRun: inRun) { $0.count = $1 },
            write("Int, +=", many, &state, inRun: inRun) { state, _ in state.count &+= 1 },
            write("Int, depth 3, set", many, &state, inRun: inRun) { $0.profile.address.zip = $1 },
            write("element of 1,024 by id, set", many, &state, inRun: inRun) { $0.items[id: $1 & 1023]?.done.toggle() },
            write(
                "append to an array of 100,000",
                some,
                &state,
                inRun: inRun,
                { $0.list = list },
                { $0.list.append($1) }
            ),
            write("append to a boxed array", some, &state, inRun: inRun, { $0.boxed = list }, { $0.boxed.append($1) }),
            write("String +=", some, &state, inRun: inRun, { $0.title = "x" }, { state, _ in state.title += "y" }),
            write("Clamped Int, set", many, &state, inRun: inRun) { $0.level = $1 },
            write("Clamped Int, +=", many, &state, inRun: inRun) { state, _ in state.level += 1 },
        ]
    }

    /// Measures a write to a plain state.
    @inline(__always)
    private static func write(
        _ name: String,
        _ count: Int,
        _ state: inout Plain,
        _ prepare: (inout Plain) -> Void = { _ in },
        _ body: (inout Plain, Int) -> Void
    ) -> Measurement {
        Measurement(name, count: count) { count in
            prepare(&state)
            for index in 0..<count {
                body(&state, index)
                seal(&state)
            }
        }
    }

    /// Measures writes to a tracked state, either all inside one run or without a run.
    @inline(__always)
    private static func write(
        _ name: String,
        _ count: Int,
        _ state: inout Tracked,
        inRun: Bool,
        _ prepare: (inout Tracked) -> Void = { _ in },
        _ body: (inout Tracked, Int) -> Void
    ) -> Measurement {
        Measurement(name, count: count) { count in
            prepare(&state)
            guard inRun else {
                for index in 0..<count {
                    body(&state, index)
                    seal(&state)
                }
                return
            }
            let recording = ChangeRecorder.record(&state) { state in
                for index in 0..<count {
                    body(&state, index)
                    seal(&state)
                }
            }
            use(recording)
        }
    }

    /// Keeps the optimiser from merging one write with the next.
    @inline(never)
    private static func seal<State>(_ state: inout State) {}

    // MARK: - Runs

    private static func runs() -> [Measurement] {
        var state = Tracked()
        for id in 0..<1024 { state.items.append(Item(id: id)) }
        func measure(_ name: String, count: Int = some, _ write: @escaping (inout Tracked, Int) -> Void) -> Measurement
        {
            Measurement(name, count: count) { count in
                for index in 0..<count { use(ChangeRecorder.record(&state) { write(&$0, index) }) }
            }
        }
        return [
            measure("nothing") { _, _ in },
            measure("Int") { $0.count = $1 },
            measure("Int, depth 3") { $0.profile.address.zip = $1 },
            measure("String of 22 bytes") {
                $0.title = $1 & 1 == 0 ? "twenty-two bytes long a" : "twenty-two bytes long b"
            },
            measure("element of 1,024 by id") { $0.items[id: $1 & 1023]?.done.toggle() },
            measure("100 elements of 1,024", count: few) { state, index in
                for id in 0..<100 { state.items[id: id]?.done = index & 1 == 0 }
            },
        ]
    }

    // MARK: - Collections

    private static func collections() -> [Measurement] {
        [10, 1_000, 100_000].flatMap { size in
            var state = Tracked()
            for id in 0..<size { state.items.append(Item(id: id)) }
            return [
                Measurement("run: one field of one element of \(size)", count: few) { count in
                    for index in 0..<count {
                        use(ChangeRecorder.record(&state) { $0.items[id: index % size]?.done.toggle() })
                    }
                },
                Measurement("run: append to \(size), and run: remove the last", count: few) { count in
                    for _ in 0..<count {
                        use(ChangeRecorder.record(&state) { $0.items.append(Item(id: size)) })
                        use(ChangeRecorder.record(&state) { $0.items.removeLast() })
                    }
                },
                Measurement("run: remove in the middle of \(size), and run: insert there", count: some / 100) { count in
                    for _ in 0..<count {
                        use(ChangeRecorder.record(&state) { $0.items.remove(id: size / 2) })
                        use(ChangeRecorder.record(&state) { $0.items.insert(Item(id: size / 2), at: size / 2) })
                    }
                },
            ]
        }
    }

    // MARK: - Reads

    private static func reads() -> [Measurement] {
        let plain = hide(Plain())
        let tracked = hide(Tracked())
        let owner = hide(ObservedState(Tracked()))
        let value = hide(Value())
        var sum = 0
        let measurements = [
            Measurement("plain, depth 3", count: many) {
                for _ in 0..<$0 { sum &+= look(plain) { $0.profile.address.zip } }
            },
            Measurement("tracked, not observed, depth 3", count: many) {
                for _ in 0..<$0 { sum &+= look(tracked) { $0.profile.address.zip } }
            },
            Measurement("ObservedState, depth 3", count: some) {
                for _ in 0..<$0 { sum &+= look(owner) { $0.state.profile.address.zip } }
            },
            Measurement("@ObservableValue, depth 1", count: some) {
                for _ in 0..<$0 { sum &+= look(value) { $0.count } }
            },
        ]
        use(sum)
        return measurements
    }

    @inline(never)
    private static func look<State>(_ state: State, _ read: (State) -> Int) -> Int { read(state) }
}
