#pragma once
#include "crc32.hpp"
#include "summary.hpp"

#include <fcntl.h>
#include <lz4frame.h>
#include <sys/uio.h>
#include <zstd.h>

#include <memory>
#include <set>

/** Writes chunks with message indexes behind them, all checksums, and a summary. */
class Writer {
 public:
  Writer(const char* path, std::string_view compression, size_t chunkBytes, const Summary& source)
      : fd_(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644)), compression_(compression), chunkBytes_(chunkBytes),
        source_(source), indexes_(65536), counts_(65536) {
    if (fd_ < 0) fail(std::string("cannot write ") + path);
    Buffer head;
    head.append(kMagic.data(), kMagic.size());
    record(head, kHeader, [](Buffer& out) { out.text(""), out.text("mcap-peer"); });
    send({head.data, head.size});
  }

  void add(const Byte* message, uint16_t channelId, uint64_t timeNs, size_t bytes) {
    if (counts_[channelId] == 0) introduce(channelId);
    auto& index = indexes_[channelId];
    if (index.empty()) touched_.push_back(channelId);
    if (touched_.size() == 1 && index.empty()) startNs_ = timeNs;
    endNs_ = timeNs;
    index.push_back({timeNs, chunk_.size});
    chunk_.append(message, bytes);
    counts_[channelId] += 1, messages += 1, dataBytes += bytes - kRecordHead - kMessageHead;
    if (chunk_.size >= chunkBytes_) seal();
  }

  /** Answers the size of the file. */
  uint64_t finish() {
    if (chunk_.size > 0) seal();
    Buffer end;
    record(end, kDataEnd, [&](Buffer& out) { out.put(crc_); });
    send({end.data, end.size});
    const uint64_t summaryStart = position_;
    Buffer summary = encodeSummary();
    summary.put(kFooter), summary.put<uint64_t>(20);
    summary.put(summaryStart), summary.put(summaryStart + offsetsStart_);
    summary.put(crc32(0, summary.data, summary.size));
    summary.append(kMagic.data(), kMagic.size());
    send({summary.data, summary.size});
    close(fd_);
    return position_;
  }

  uint64_t messages = 0, dataBytes = 0;

 private:
  struct IndexEntry {
    uint64_t timeNs, offset;
  };
  struct Piece {
    const void* data;
    size_t size;
  };

  template <class Fill> static void record(Buffer& out, Byte opcode, Fill fill) {
    out.put(opcode), out.put<uint64_t>(0);
    const size_t start = out.size;
    fill(out);
    const uint64_t length = out.size - start;
    memcpy(out.data + start - 8, &length, 8);
  }

  /** A channel stands before its first message, its schema before it. */
  void introduce(uint16_t channelId) {
    const auto found = source_.channels.find(channelId);
    if (found == source_.channels.end()) fail("a message of a channel that the summary does not have");
    const auto& [schemaId, topic, record] = found->second;
    if (schemaId != 0 && schemaIds_.insert(schemaId).second) {
      const std::string_view schema = source_.schemas.at(schemaId);
      chunk_.append(schema.data(), schema.size());
    }
    chunk_.append(record.data(), record.size());
    channelIds_.insert(channelId);
  }

  void seal() {
    const uint32_t crc = crc32(0, chunk_.data, chunk_.size);
    const Piece stored = compress();
    Buffer head, indexes;
    record(head, kChunk, [&](Buffer& out) {
      out.put(startNs_), out.put(endNs_), out.put<uint64_t>(chunk_.size), out.put(crc), out.text(compression_);
      out.put<uint64_t>(stored.size);
    });
    const uint64_t bodyBytes = head.size - kRecordHead + stored.size, chunkEnd = position_ + head.size + stored.size;
    memcpy(head.data + 1, &bodyBytes, 8);
    Buffer offsets;
    for (const uint16_t channelId : touched_) {
      offsets.put(channelId), offsets.put<uint64_t>(chunkEnd + indexes.size);
      auto& entries = indexes_[channelId];
      record(indexes, kMessageIndex, [&](Buffer& out) {
        out.put(channelId), out.put<uint32_t>(entries.size() * sizeof(IndexEntry));
        out.append(entries.data(), entries.size() * sizeof(IndexEntry));
      });
      entries.clear();
    }
    record(chunkIndexes_, kChunkIndex, [&](Buffer& out) {
      out.put(startNs_), out.put(endNs_), out.put(position_), out.put<uint64_t>(head.size + stored.size);
      out.put<uint32_t>(offsets.size), out.append(offsets.data, offsets.size), out.put<uint64_t>(indexes.size);
      out.text(compression_), out.put<uint64_t>(stored.size), out.put<uint64_t>(chunk_.size);
    });
    fileStartNs_ = std::min(fileStartNs_, startNs_), fileEndNs_ = std::max(fileEndNs_, endNs_), chunkCount_ += 1;
    send({head.data, head.size}, stored, {indexes.data, indexes.size});
    chunk_.size = 0;
    touched_.clear();
  }

  Piece compress() {
    if (compression_ == "zstd") {
      const size_t room = ZSTD_compressBound(chunk_.size);
      const size_t size = ZSTD_compressCCtx(zstd_.get(), stored_.resize(room), room, chunk_.data, chunk_.size, 1);
      if (ZSTD_isError(size)) fail(ZSTD_getErrorName(size));
      return {stored_.data, size};
    }
    if (compression_ != "lz4") return {chunk_.data, chunk_.size};
    const size_t room = LZ4F_compressFrameBound(chunk_.size, nullptr);
    const size_t size = LZ4F_compressFrame(stored_.resize(room), room, chunk_.data, chunk_.size, nullptr);
    if (LZ4F_isError(size)) fail(LZ4F_getErrorName(size));
    return {stored_.data, size};
  }

  Buffer encodeSummary() {
    Buffer out, offsets;
    const auto group = [&](Byte opcode, auto fill) {
      const uint64_t start = out.size;
      fill();
      if (out.size == start) return;
      record(offsets, kSummaryOffset, [&](Buffer& to) {
        to.put(opcode), to.put(position_ + start), to.put<uint64_t>(out.size - start);
      });
    };
    const auto append = [&](std::string_view bytes) { out.append(bytes.data(), bytes.size()); };
    group(kSchema, [&] { for (const auto id : schemaIds_) append(source_.schemas.at(id)); });
    group(kChannel, [&] { for (const auto id : channelIds_) append(source_.channels.at(id).record); });
    group(kStatistics, [&] {
      record(out, kStatistics, [&](Buffer& to) {
        to.put(messages), to.put<uint16_t>(schemaIds_.size()), to.put<uint32_t>(channelIds_.size());
        to.put<uint32_t>(0), to.put<uint32_t>(0), to.put(chunkCount_);
        to.put(chunkCount_ > 0 ? fileStartNs_ : 0), to.put(fileEndNs_), to.put<uint32_t>(channelIds_.size() * 10);
        for (const auto id : channelIds_) to.put(id), to.put(counts_[id]);
      });
    });
    group(kChunkIndex, [&] { out.append(chunkIndexes_.data, chunkIndexes_.size); });
    offsetsStart_ = out.size;
    out.append(offsets.data, offsets.size);
    return out;
  }

  /** In one call, without putting the pieces together first. */
  void send(Piece first, Piece second = {}, Piece third = {}) {
    iovec parts[3];
    size_t count = 0, bytes = 0;
    for (const Piece& piece : {first, second, third}) {
      parts[count++] = {const_cast<void*>(piece.data), piece.size};
      crc_ = crc32(crc_, piece.data, piece.size);
      bytes += piece.size;
    }
    if (writev(fd_, parts, count) != ssize_t(bytes)) fail("the file cannot be written");
    position_ += bytes;
  }

  int fd_;
  std::string compression_;
  size_t chunkBytes_;
  const Summary& source_;
  std::vector<std::vector<IndexEntry>> indexes_;
  std::vector<uint64_t> counts_;
  std::vector<uint16_t> touched_;
  std::set<uint16_t> schemaIds_, channelIds_;
  Buffer chunk_, stored_, chunkIndexes_;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> zstd_{ZSTD_createCCtx(), ZSTD_freeCCtx};
  uint64_t startNs_ = 0, endNs_ = 0, fileStartNs_ = ~0ull, fileEndNs_ = 0, position_ = 0, offsetsStart_ = 0;
  uint32_t crc_ = 0, chunkCount_ = 0;
};
