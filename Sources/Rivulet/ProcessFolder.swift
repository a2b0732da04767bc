import FoundationEssentials

/// The data folder of this process.
enum ProcessFolder {
    /// Returns the given folder; nil means RIVULET_DATA, or `./data` if that is not set.
    static func path(_ folder: String? = nil) -> String {
        let named = ProcessInfo.processInfo.environment["RIVULET_DATA"].flatMap { $0.isEmpty ? nil : $0 }
        return folder ?? named ?? "data"
    }
}
