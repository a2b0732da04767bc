// This file owns the shapes of property observers in an observable value. PlainShapes.swift has the same source.

import RivuletObservation

/// The source with the macro.
@ObservableValue
struct ObservedShapes: ObserverShapes {
    var log: [String] = []

    var name = "" {
        didSet {
            let name = name.lowercased()
            self.name = name
            log.append("name \(oldValue) \(name)")
        }
    }
    var maybe: Int? {
        didSet {
            if let maybe { log.append("maybe \(maybe)") }
            if let maybe, maybe > 3 { self.maybe = maybe - 1 }
            maybe = maybe.map { maybe in maybe * 10 }
        }
    }
    var count = 0 {
        didSet(count) { self.count += count }
    }
    var level = 0 {
        willSet(level) {
            log.append("level \(self.level) \(level)")
            self.level = 99
        }
        didSet(former) {
            log.append("level \(former)")
            level += 1
        }
    }
    var item = 0 {
        didSet {
            for item in [1, 2] where item > 1 { self.item += item }
            item += 100
        }
    }
    var phase = 0 {
        didSet {
            switch phase {
            case let phase where phase > 3: self.phase = phase - 1
            case 1: phase = 11
            default: phase += 20
            }
            phase += 100
        }
    }
    var guarded: Int? {
        didSet {
            guarded = guarded.map { $0 + 5 }
            guard let guarded else { return }
            self.guarded = guarded + 1
        }
    }
    var total = 0 {
        didSet {
            self.total = total() + 1
            func total() -> Int { 3 }
        }
    }
    var number = 0 {
        didSet {
            let doubled = [1, 2].map { number in number * 2 }
            number += doubled[1]
        }
    }
    var clash = 0 {
        didSet {
            // swift-format-ignore: NoLeadingUnderscores
            let _clash = 5
            clash += _clash
        }
    }
    var error = "" {
        didSet {
            do { throw Stop() } catch { self.error += "\(error)" }
            error += "!"
        }
    }
    var oldValue = 0 {
        didSet { self.oldValue += oldValue * 10 + 1 }
    }
    var newValue = 0 {
        willSet { self.newValue = newValue + 1 }
        didSet { newValue += oldValue }
    }
    var items: [Int] = [] {
        didSet {
            items.append(items.count)
            items[0] += 1
        }
    }
    var compared: [Int] = [] {
        didSet { if compared.count != oldValue.count { compared += oldValue } }
    }
    var deep = 0 {
        didSet {
            log.append("deep \(oldValue)")
            if deep < 3 { [1].forEach { deep += $0 } }
        }
    }
    var called = 0 {
        didSet {
            log.append("called \(oldValue)")
            func again() { called += 1 }
            if called < 3 { again() }
        }
    }
    var deferred = 0 {
        didSet {
            log.append("deferred \(oldValue)")
            guard deferred < 3 else { return }
            defer { deferred += 1 }
            log.append("last \(deferred)")
        }
    }
    var stepped = 0 {
        didSet {
            log.append("stepped \(oldValue)")
            if stepped < 3 { step() }
        }
    }
    var keyed = 0 {
        didSet {
            log.append("keyed \(oldValue)")
            if keyed < 3 { self[keyPath: \.keyed] += 1 }
        }
    }
    var accessed = 0 {
        didSet {
            log.append("accessed \(oldValue)")
            var local: Int {
                get { accessed }
                set { accessed = newValue }
            }
            if accessed < 3 { local += 1 }
        }
    }
    var copied = 0 {
        didSet {
            log.append("copied \(oldValue)")
            var copy = self
            if copied < 3 { copy.copied += 1 }
            copied += copy.copied
        }
    }
    var pair = 1 {
        didSet { (pair, swapped) = (swapped, pair) }
    }
    var swapped = 2 {
        didSet { log.append("swapped \(oldValue)") }
    }
    var text = "" {
        didSet {
            func trim(_ text: inout String) { text = String(text.prefix(3)) }
            trim(&text)
            trim(&self.text)
        }
    }
    var scoped = 0 {
        didSet {
            do {
                let scoped = 7
                log.append("scoped \(scoped)")
            }
            scoped += 1
            if scoped > 0 {
                scoped += 1
                var scoped = scoped
                scoped += 1000
                log.append("inner \(scoped)")
            }
            scoped += 1
        }
    }
    var queue = [3, 2, 1] {
        didSet {
            while let queue = queue.popLast() { log.append("queue \(queue)") }
            if case let queue = 5, queue > 4 { self.queue.append(queue) }
            repeat { queue.append(0) } while queue.count < 3
        }
    }
    var wrapped = 0 {
        didSet {
            (self).wrapped += 1
            ((wrapped)) += 1
        }
    }
    var captured = 0 {
        didSet {
            let next = { [captured] in captured + 1 }
            captured = next()
            let shadowed = { [captured = 7] in captured }
            captured += shadowed()
        }
    }
    var chosen = 0 {
        didSet {
            chosen = if chosen > 5 { chosen - 5 } else { chosen + 5 }
            chosen =
                switch chosen {
                case 6: 60
                case let chosen: chosen
                }
        }
    }
    var label = "" {
        didSet { label = "\(label) \(self.label) \({ label in label }(1)) \(Other().label)" }
    }
    var inner: Inner? {
        didSet {
            inner?.value += 1
            self.inner?.value += 1
            inner?.value *= 3
        }
    }
    var inPlace = Inner() {
        willSet { log.append("inPlace \(inPlace.value) \(newValue.value)") }
    }
    var `default` = 0 {
        didSet { `default` += 1; self.default += 1; let `default` = 3; self.`default` += `default` }
    }
    var sequence = 0 {
        didSet { let sequence = sequence + 1, next = sequence + 1; self.sequence = next }
    }
    var thrown = 0 {
        didSet {
            do { try fail(); thrown += 1 } catch let thrown as Stop { log.append("\(thrown)") } catch { thrown += 2 }
            thrown += 10
        }
    }

    init() {}

    mutating func step() { stepped += 1 }

    func fail() throws { throw Stop() }
}
