// This file owns one state in two sources: fields with `@Wrapped`, and fields in the long form.

import RivuletObservation
import SeededRandom

/// The fields that both forms have.
protocol WrapperForms: ObservableState, Equatable, Sendable {
    var percent: Int { get set }
    var share: Double { get set }
    var list: [Int] { get set }
    var inner: Address { get set }
    var note: String? { get set }
    var alert: Address? { get set }
    var tens: Int { get set }
    var scaled: Int { get set }
    var counted: Int { get set }
    var level: Int { get set }
    var tags: [String] { get set }

    init(level: Int, tags: [String])
}

@ObservableState
struct ShortForm: WrapperForms {
    @Wrapped(Clamped.self, 0...100) var percent = 150
    @Wrapped(Clamped.self, -0.5...0.5) var share: Double = 0.25
    @Wrapped(Boxed.self) var list: [Int] = []
    @Wrapped(Boxed.self) var inner = Address()
    @Wrapped(Omitted.self) var note: String?
    @Wrapped(Presented.self, projected: true) var alert: Address?
    @Wrapped(Rounded.self, 10) var tens = 17
    @Wrapped(Scaled.self, 10, projected: true) var scaled = 6
    @Transient @Wrapped(WriteCounted.self) var counted = 1
    @Wrapped(Clamped<Int>.self, 1...5) var level: Int
    @Wrapped(Boxed.self) var tags: [String]

    init(level: Int, tags: [String]) {
        self.level = level
        self.tags = tags
    }
}

@ObservableState
struct LongForm: WrapperForms {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...100) @ObservationStateIgnored
    var percent: Int = 150
    @ObservableStateWrapper(Clamped<Double>.self, config: -0.5...0.5) @ObservationStateIgnored
    var share: Double = 0.25
    @ObservableStateWrapper(Box<[Int]>.self) @ObservationStateIgnored
    var list: [Int] = []
    @ObservableStateWrapper(Box<Address>.self) @ObservationStateIgnored
    var inner: Address = Address()
    @ObservableStateWrapper(OmitCoding<String?>.self) @ObservationStateIgnored
    var note: String?
    @ObservableStateWrapper(PresentationState<Address>.self, projected: true) @ObservationStateIgnored
    var alert: Address?
    @ObservableStateWrapper(Rounding<Int>.self, config: 10) @ObservationStateIgnored
    var tens: Int = 17
    @ObservableStateWrapper(Scaled.self, projected: true, config: 10) @ObservationStateIgnored
    var scaled: Int = 6
    @Transient @ObservableStateWrapper(WriteCounted.self) @ObservationStateIgnored
    var counted: Int = 1
    @ObservableStateWrapper(Clamped<Int>.self, config: 1...5) @ObservationStateIgnored
    var level: Int
    @ObservableStateWrapper(Box<[String]>.self) @ObservationStateIgnored
    var tags: [String]

    init(level: Int, tags: [String]) {
        self.level = level
        self.tags = tags
    }
}

/// A state that presents a state of its own type.
@ObservableState
struct Menu: Equatable, Sendable {
    var title = ""
    @Wrapped(Presented.self, projected: true) var submenu: Menu?
}

extension WrapperForms {
    /// Performs the random writes of one run.
    mutating func write(using random: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            let number = Int.random(in: -200...200, using: &random)
            switch Int.random(in: 0..<16, using: &random) {
            case 0: percent = number
            case 1: percent += number
            case 2: share = Double(number) / 100
            case 3: list.append(number)
            case 4: list = []
            case 5: inner.zip = number
            case 6: inner = Address(city: "\(number)")
            case 7: note = number < 0 ? nil : "\(number)"
            case 8: alert = number < 0 ? nil : Address(city: "\(number)")
            case 9: alert?.zip += number
            case 10: tens = number
            case 11: tens += number
            case 12: (scaled, counted) = (number, number)
            case 13: level += number
            case 14: tags.append("\(number)")
            default: if number > 190 { self = Self(level: number, tags: []) }
            }
        }
    }
}
