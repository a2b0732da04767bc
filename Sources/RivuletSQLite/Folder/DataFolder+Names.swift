internal import RivuletBase

extension DataFolder {
    /// Returns a path that no file has.
    static func unusedPath(_ path: String) -> String {
        var (unused, number) = (path, 1)
        while DataFolderModes.mode(of: unused) != nil {
            number += 1
            unused = "\(path)-\(number)"
        }
        return unused
    }

    /// Returns a time in the form 20261123T154500Z.
    static func stamp(_ milliseconds: Int64) -> String {
        let seconds = Int(milliseconds / 1_000)
        let (day, date) = (seconds % 86_400, CivilDate(daysSince1970: seconds / 86_400))
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
        }
        return digits(date.year, 4) + digits(date.month, 2) + digits(date.day, 2) + "T" + digits(day / 3_600, 2)
            + digits(day / 60 % 60, 2) + digits(day % 60, 2) + "Z"
    }
}
