import CoreMetrics
import FoundationEssentials
import RivuletMetrics
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The metrics that every Prometheus client has of its process; they are 0 if there is no `/proc`.
///
/// Source: <https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics>.
final class ProcessMetrics: Sendable {
    private let cpu: any FloatingPointCounterHandler
    private let residentMemory: any MeterHandler
    private let virtualMemory: any MeterHandler
    private let descriptors: any MeterHandler
    private let descriptorsMax: any MeterHandler
    private let startTime: any MeterHandler
    /// The CPU time that was published, in seconds.
    private let published = Mutex(0.0)

    init(_ factory: any MetricsFactory) {
        cpu = factory.makeFloatingPointCounter(label: ServerMetric.cpu.name, dimensions: [])
        func gauge(_ metric: MetricDescription) -> any MeterHandler {
            factory.makeMeter(label: metric.name, dimensions: [])
        }
        residentMemory = gauge(ServerMetric.residentMemory)
        virtualMemory = gauge(ServerMetric.virtualMemory)
        descriptors = gauge(ServerMetric.descriptors)
        descriptorsMax = gauge(ServerMetric.descriptorsMax)
        startTime = gauge(ServerMetric.startTime)
    }

    /// Reads and publishes the present figures.
    func publish() {
        guard let figures = ProcessFigures() else { return }
        published.withLock { published in
            guard figures.cpuSeconds > published else { return }
            cpu.increment(by: figures.cpuSeconds - published)
            published = figures.cpuSeconds
        }
        residentMemory.set(Int64(figures.residentBytes))
        virtualMemory.set(Int64(figures.virtualBytes))
        descriptors.set(Int64(figures.descriptors))
        descriptorsMax.set(Int64(clamping: figures.descriptorsMax))
        startTime.set(figures.startSeconds)
    }
}

/// The figures of this process.
struct ProcessFigures {
    let cpuSeconds: Double
    let residentBytes: Int
    let virtualBytes: Int
    let descriptors: Int
    let descriptorsMax: UInt64
    /// The start of the process, in seconds since 1970.
    let startSeconds: Double

    /// Reads the figures; nil if the system has no `/proc`.
    ///
    /// Source: proc_pid_stat(5), proc_stat(5).
    init?() {
        guard let stat = Self.text("/proc/self/stat"), let system = Self.text("/proc/stat"),
            let nameEnd = stat.lastIndex(of: ")")
        else { return nil }
        // The fields after the name, which may contain any character. The state is field 3.
        let fields = stat[stat.index(after: nameEnd)...].split(separator: " ")
        func field(_ number: Int) -> Double? { fields.count > number - 3 ? Double(fields[number - 3]) : nil }
        let boot = system.split(separator: "\n").first { $0.hasPrefix("btime ") }?.dropFirst(6)
        guard let user = field(14), let kernel = field(15), let start = field(22), let size = field(23),
            let pages = field(24), let boot = boot.flatMap({ Double($0) })
        else { return nil }
        let ticks = Double(max(sysconf(Int32(_SC_CLK_TCK)), 1))
        cpuSeconds = (user + kernel) / ticks
        virtualBytes = Int(size)
        residentBytes = Int(pages) * max(sysconf(Int32(_SC_PAGESIZE)), 1)
        startSeconds = boot + start / ticks
        descriptors = Self.descriptorCount()
        var limit = rlimit()
        descriptorsMax =
            unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : 0
    }

    /// The resident memory alone, in bytes; nil if the system has no `/proc`.
    ///
    /// Source: proc_pid_statm(5).
    static func residentBytes() -> Int? {
        guard let pages = text("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            return nil
        }
        return pages * max(sysconf(Int32(_SC_PAGESIZE)), 1)
    }

    /// The number of open descriptors.
    ///
    /// Since Linux 6.2 the folder's size is that number. Listing a hundred thousand descriptors would delay a loop.
    private static func descriptorCount() -> Int {
        var status = stat()
        if unsafe stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        return (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    private static func text(_ path: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
