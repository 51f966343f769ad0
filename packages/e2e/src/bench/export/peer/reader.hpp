#pragma once
#include "summary.hpp"
#include "writer.hpp"

#include <lz4frame.h>
#include <zstd.h>

#include <memory>
#include <set>

/** Less than this many bytes of a chunk for each wanted message: reading the chunk as a whole is faster. */
constexpr size_t kPositionalBytes = 4096;

struct Options {
  std::string from, to, compression, read = "auto";
  std::set<std::string, std::less<>> topics;
  uint64_t startNs = 0, endNs = ~0ull;
  size_t chunkBytes = 1024 * 1024;
};

/** Reads the wanted messages in log-time order, those of equal times in the order of the file. */
class Reader {
 public:
  Reader(int fd, const Options& options, const Summary& summary, Writer& writer)
      : fd_(fd), options_(options), summary_(summary), writer_(writer), wanted_(65536) {
    for (const auto& [id, channel] : summary.channels)
      wanted_[id] = options.topics.empty() || options.topics.count(channel.topic) > 0;
  }

  void run() {
    for (const ChunkPlace* place : neededChunks()) {
      emitBefore(place->startNs);
      entries_.erase(entries_.begin(), entries_.begin() + next_);
      const size_t known = entries_.size();
      next_ = 0;
      loadChunk(*place);
      std::inplace_merge(entries_.begin(), entries_.begin() + known, entries_.end());
    }
    emitBefore(~0ull);
    while (next_ < entries_.size()) emit(entries_[next_++]);
  }

  uint64_t wholeChunks = 0, positionalReads = 0;

 private:
  struct Slot {
    Buffer stored, plain;
    const Byte* records;
    size_t unread;
  };
  /** `at`: of the message's record, in its slot; in the order of the chunk. */
  struct Entry {
    uint64_t timeNs;
    uint32_t order, at, slot;
    bool operator<(const Entry& other) const {
      if (timeNs != other.timeNs) return timeNs < other.timeNs;
      return order != other.order ? order < other.order : at < other.at;
    }
  };

  std::vector<const ChunkPlace*> neededChunks() const {
    std::vector<const ChunkPlace*> needed;
    for (const ChunkPlace& place : summary_.chunks)
      if (place.startNs <= options_.endNs && place.endNs >= options_.startNs && countWanted(place) > 0)
        needed.push_back(&place);
    std::sort(needed.begin(), needed.end(), [](const ChunkPlace* one, const ChunkPlace* other) {
      return one->startNs != other->startNs ? one->startNs < other->startNs : one->offset < other->offset;
    });
    return needed;
  }

  size_t countWanted(const ChunkPlace& place) const {
    return std::count_if(place.channels.begin(), place.channels.end(), [&](uint16_t id) { return wanted_[id]; });
  }

  void emitBefore(uint64_t timeNs) {
    while (next_ < entries_.size() && entries_[next_].timeNs < timeNs) emit(entries_[next_++]);
  }

  void emit(const Entry& entry) {
    Slot& slot = slots_[entry.slot];
    const Byte* record = slot.records + entry.at;
    const size_t bytes = kRecordHead + load<uint64_t>(record + 1);
    writer_.add(record, load<uint16_t>(record + kRecordHead), entry.timeNs, bytes);
    if (--slot.unread == 0) free_.push_back(entry.slot);
  }

  /** Few channels are found by the message indexes; where most are wanted, walking along the records is faster. */
  void loadChunk(const ChunkPlace& place) {
    const size_t before = entries_.size();
    const uint32_t number = takeSlot();
    Slot& slot = slots_[number];
    const bool isSparse = countWanted(place) * 4 <= place.channels.size();
    if (isSparse || options_.read == "index") listByIndexes(place, number);
    const bool mayBePositional = place.compression.empty() && options_.read != "chunk";
    const size_t listed = entries_.size() - before;
    if (mayBePositional && (options_.read == "index" || (isSparse && listed * kPositionalBytes < place.bytes))) {
      readPositions(place, slot, before);
    } else if (!isSparse || listed > 0) {
      readChunk(place, slot);
      if (listed == 0) listByRecords(place, number);
    }
    sort(before);
    slot.unread = entries_.size() - before;
    if (slot.unread == 0) free_.push_back(number);
  }

  uint32_t takeSlot() {
    if (free_.empty()) slots_.emplace_back(), free_.push_back(slots_.size() - 1);
    const uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }

  void list(uint64_t timeNs, const ChunkPlace& place, uint64_t at, uint32_t slot) {
    if (timeNs < options_.startNs || timeNs > options_.endNs) return;
    entries_.push_back({timeNs, place.order, static_cast<uint32_t>(at), slot});
  }

  void listByIndexes(const ChunkPlace& place, uint32_t slot) {
    const size_t before = entries_.size();
    readAt(fd_, indexes_.resize(place.indexesBytes), place.indexesBytes, place.offset + place.bytes);
    for (Cursor in{indexes_.data, indexes_.data + indexes_.size}; in.at < in.end;) {
      const auto opcode = in.get<Byte>();
      Cursor body = in.part(in.get<uint64_t>());
      if (opcode != kMessageIndex || !wanted_[body.get<uint16_t>()]) continue;
      for (Cursor array = body.part(body.get<uint32_t>()); array.at < array.end;) {
        const auto timeNs = array.get<uint64_t>(), at = array.get<uint64_t>();
        list(timeNs, place, at, slot);
      }
    }
    sort(before);
  }

  /** From there on; what is in order already, as most chunks are, costs one look. */
  void sort(size_t from) {
    const auto start = entries_.begin() + static_cast<std::ptrdiff_t>(from);
    if (!std::is_sorted(start, entries_.end())) std::sort(start, entries_.end());
  }

  void listByRecords(const ChunkPlace& place, uint32_t slot) {
    const Byte* records = slots_[slot].records;
    for (Cursor in{records, records + place.uncompressedBytes}; in.at < in.end;) {
      const Byte* record = in.at;
      const auto opcode = in.get<Byte>();
      const Byte* body = in.take(in.get<uint64_t>());
      if (opcode != kMessage || !wanted_[load<uint16_t>(body)]) continue;
      list(load<uint64_t>(body + 6), place, record - records, slot);
    }
  }

  void readChunk(const ChunkPlace& place, Slot& slot) {
    wholeChunks += 1;
    readAt(fd_, slot.stored.resize(place.bytes), place.bytes, place.offset);
    const size_t head = kRecordHead + kChunkHead + place.compression.size();
    if (place.bytes < head || slot.stored.data[0] != kChunk) fail("a chunk is not where its index says");
    const Byte* stored = slot.stored.data + head;
    const size_t storedBytes = place.bytes - head, bytes = place.uncompressedBytes;
    slot.records = place.compression.empty() ? stored : slot.plain.resize(bytes);
    size_t size = storedBytes;
    if (place.compression == "zstd") size = ZSTD_decompressDCtx(zstd_.get(), slot.plain.data, bytes, stored, storedBytes);
    if (place.compression == "lz4") {
      size_t taken = storedBytes;
      size = bytes;
      if (LZ4F_decompress(lz4_.get(), slot.plain.data, &size, stored, &taken, nullptr) != 0) fail("a chunk is damaged");
    }
    if (size != bytes) fail("a chunk is damaged");
  }

  static LZ4F_dctx* makeLz4() {
    LZ4F_dctx* made = nullptr;
    LZ4F_createDecompressionContext(&made, LZ4F_VERSION);
    return made;
  }

  /** The listed messages alone, one behind the other into the slot; what is short comes with one read. */
  void readPositions(const ChunkPlace& place, Slot& slot, size_t first) {
    const size_t head = kRecordHead + kChunkHead;
    slot.plain.size = 0;
    for (size_t index = first; index < entries_.size(); ++index) {
      const size_t at = entries_[index].at, start = slot.plain.size;
      const size_t ahead = std::min<size_t>(kPositionalBytes / 8, place.uncompressedBytes - at);
      readAt(fd_, slot.plain.resize(start + ahead) + start, ahead, place.offset + head + at);
      const size_t bytes = kRecordHead + load<uint64_t>(slot.plain.data + start + 1);
      slot.plain.resize(start + bytes);
      if (bytes > ahead) readAt(fd_, slot.plain.data + start + ahead, bytes - ahead, place.offset + head + at + ahead);
      entries_[index].at = start;
    }
    positionalReads += entries_.size() - first;
    slot.records = slot.plain.data;
  }

  int fd_;
  const Options& options_;
  const Summary& summary_;
  Writer& writer_;
  std::vector<char> wanted_;
  std::vector<Entry> entries_;
  size_t next_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  Buffer indexes_;
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> zstd_{ZSTD_createDCtx(), ZSTD_freeDCtx};
  std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> lz4_{makeLz4(), LZ4F_freeDecompressionContext};
};
