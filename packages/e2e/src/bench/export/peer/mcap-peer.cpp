// The strongest reference of the export benchmark: what a careful C++ program does that reads a part of an MCAP file by
// its indexes, in log-time order, and writes it as another one. It has one thread and believes the checksums of what it
// reads, as the format's own library for C++ does.
//
//   mcap-peer --from F --to F [--topics a,b] [--start ns] [--end ns] --compression none|zstd|lz4
//             [--read auto|chunk|index] [--chunk-bytes n]
//
// Both times are inclusive. Prints what it took as JSON.
#include "reader.hpp"
#include "writer.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>

Options parseOptions(int count, char** values) {
  Options options;
  for (int index = 1; index + 1 < count; index += 2) {
    const std::string_view name = values[index];
    const std::string value = values[index + 1];
    if (name == "--from") options.from = value;
    else if (name == "--to") options.to = value;
    else if (name == "--compression") options.compression = value == "none" ? "" : value;
    else if (name == "--start") options.startNs = std::stoull(value);
    else if (name == "--end") options.endNs = std::stoull(value);
    else if (name == "--read") options.read = value;
    else if (name == "--chunk-bytes") options.chunkBytes = std::stoull(value);
    else if (name != "--topics") fail("unknown option " + std::string(name));
    for (size_t at = 0; name == "--topics" && at <= value.size();) {
      const size_t end = std::min(value.find(',', at), value.size());
      options.topics.insert(value.substr(at, end - at));
      at = end + 1;
    }
  }
  return options;
}

double cpuMs() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto inMs = [](const timeval& time) { return time.tv_sec * 1e3 + time.tv_usec / 1e3; };
  return inMs(usage.ru_utime) + inMs(usage.ru_stime);
}

/** Of this program alone: what getrusage tells begins with that of the process that started it. */
uint64_t maxRssBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

int main(int count, char** values) {
  const auto started = std::chrono::steady_clock::now();
  const double startedCpuMs = cpuMs();
  const Options options = parseOptions(count, values);
  const int fd = open(options.from.c_str(), O_RDONLY);
  if (fd < 0) fail("cannot read " + options.from);
  const Summary summary = readSummary(fd);
  Writer writer(options.to.c_str(), options.compression, options.chunkBytes, summary);
  Reader reader(fd, options, summary, writer);
  reader.run();
  const uint64_t bytes = writer.finish();
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  printf("{\"ms\":%.3f,\"cpuMs\":%.3f,\"messages\":%llu,\"dataBytes\":%llu,\"bytes\":%llu,\"maxRssBytes\":%llu,"
         "\"wholeChunks\":%llu,\"positionalReads\":%llu}\n",
         ms, cpuMs() - startedCpuMs, (unsigned long long)writer.messages, (unsigned long long)writer.dataBytes,
         (unsigned long long)bytes, (unsigned long long)maxRssBytes(), (unsigned long long)reader.wholeChunks,
         (unsigned long long)reader.positionalReads);
}
