import RivuletBase
import Testing

@Suite struct CivilDateTests {
    @Test(
        arguments: [
            (0, 1970, 1, 1), (-1, 1969, 12, 31), (11_016, 2000, 2, 29), (11_017, 2000, 3, 1), (-25_509, 1900, 2, 28),
            (-25_508, 1900, 3, 1), (-719_528, 0, 1, 1), (-719_469, 0, 2, 29), (2_932_896, 9999, 12, 31),
        ] as [(Int, Int, Int, Int)]
    )
    func `a day converts to its date and back`(_ days: Int, _ year: Int, _ month: Int, _ day: Int) {
        let date = CivilDate(year: year, month: month, day: day)
        #expect(CivilDate(daysSince1970: days) == date)
        #expect(date.daysSince1970 == days)
    }

    @Test func `every day of 800 years converts to its date and back`() {
        for days in -146_097..<146_097 {
            #expect(CivilDate(daysSince1970: days).daysSince1970 == days)
        }
    }
}
