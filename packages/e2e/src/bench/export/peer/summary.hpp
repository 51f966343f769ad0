// What an MCAP file tells of itself at its end.
#pragma once
#include "bytes.hpp"

#include <sys/stat.h>

#include <map>
#include <vector>

constexpr size_t kFooterBytes = kRecordHead + 20;

struct ChunkPlace {
  uint64_t startNs, endNs, offset, bytes, indexesBytes, uncompressedBytes;
  std::string_view compression;
  /** In the order of the file. */
  uint32_t order;
  std::vector<uint16_t> channels;
};

struct ChannelInfo {
  uint16_t schemaId;
  std::string_view topic, record;
};

/** What the file's summary tells; everything in it points into `bytes`. */
struct Summary {
  Buffer bytes;
  std::map<uint16_t, std::string_view> schemas;
  std::map<uint16_t, ChannelInfo> channels;
  std::vector<ChunkPlace> chunks;
};

inline ChunkPlace parseChunkIndex(Cursor in, uint32_t order) {
  ChunkPlace place{};
  place.order = order;
  place.startNs = in.get<uint64_t>(), place.endNs = in.get<uint64_t>();
  place.offset = in.get<uint64_t>(), place.bytes = in.get<uint64_t>();
  for (Cursor map = in.part(in.get<uint32_t>()); map.at < map.end; map.get<uint64_t>())
    place.channels.push_back(map.get<uint16_t>());
  place.indexesBytes = in.get<uint64_t>();
  place.compression = in.text();
  in.get<uint64_t>();
  place.uncompressedBytes = in.get<uint64_t>();
  return place;
}

inline Summary readSummary(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0 || size_t(status.st_size) < kFooterBytes + 2 * kMagic.size()) fail("no MCAP file");
  const uint64_t footerAt = status.st_size - kMagic.size() - kFooterBytes;
  Byte footer[kFooterBytes];
  readAt(fd, footer, kFooterBytes, footerAt);
  const auto start = load<uint64_t>(footer + kRecordHead);
  if (footer[0] != kFooter || start == 0 || start > footerAt) fail("the file has no summary");
  Summary summary;
  readAt(fd, summary.bytes.resize(footerAt - start), footerAt - start, start);
  for (Cursor in{summary.bytes.data, summary.bytes.data + summary.bytes.size}; in.at < in.end;) {
    const Byte* record = in.at;
    const Byte opcode = in.get<Byte>();
    Cursor body = in.part(in.get<uint64_t>());
    const std::string_view whole{reinterpret_cast<const char*>(record), size_t(body.end - record)};
    if (opcode == kSchema) summary.schemas[body.get<uint16_t>()] = whole;
    if (opcode == kChannel) {
      const auto id = body.get<uint16_t>(), schemaId = body.get<uint16_t>();
      summary.channels[id] = {schemaId, body.text(), whole};
    }
    if (opcode == kChunkIndex) summary.chunks.push_back(parseChunkIndex(body, summary.chunks.size()));
  }
  if (summary.chunks.empty()) fail("the file has no chunk indexes");
  return summary;
}
