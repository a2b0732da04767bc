import RivuletBase
import Testing

@Suite struct DurationTests {
    @Test(
        arguments: [
            (.zero, 0, 0), (.milliseconds(7), 7, 7), (.microseconds(7_001), 7, 8), (.nanoseconds(1), 0, 1),
            (.seconds(3), 3_000, 3_000), (.seconds(-3), 0, 0), (.milliseconds(-1), 0, 0),
            (.seconds(Int64.max), 1_125_899_906_842_624_000, 1_125_899_906_842_624_000),
        ] as [(Duration, UInt64, UInt64)]
    )
    func `milliseconds are whole, and never negative`(_ duration: Duration, _ down: UInt64, _ up: UInt64) {
        #expect(duration.milliseconds == down)
        #expect(duration.millisecondsRoundedUp == up)
    }

    @Test(
        arguments: [
            (.zero, 0), (.nanoseconds(7), 7),
            (Duration(secondsComponent: 2, attosecondsComponent: 999_999_999), 2_000_000_000),
            (.seconds(-3), 0), (.nanoseconds(-1), 0), (.seconds(Int64.max), 8_589_934_592_000_000_000),
        ] as [(Duration, UInt64)]
    )
    func `nanoseconds are whole, and never negative`(_ duration: Duration, _ nanoseconds: UInt64) {
        #expect(duration.nanoseconds == nanoseconds)
    }
}
