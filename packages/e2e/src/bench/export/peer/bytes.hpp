// Bytes of MCAP records in memory and in files.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "MCAP is little endian, and so is memory here");

using Byte = uint8_t;
enum Opcode : Byte {
  kHeader = 1, kFooter, kSchema, kChannel, kMessage, kChunk, kMessageIndex, kChunkIndex,
  kStatistics = 11, kSummaryOffset = 14, kDataEnd = 15,
};
constexpr std::string_view kMagic{"\x89MCAP0\r\n", 8};
/** Opcode and length; channel, sequence and times; a chunk's fields but its compression's name. */
constexpr size_t kRecordHead = 9, kMessageHead = 22, kChunkHead = 8 + 8 + 8 + 4 + 4 + 8;

[[noreturn]] inline void fail(const std::string& what) {
  fprintf(stderr, "mcap-peer: %s\n", what.c_str());
  exit(1);
}

template <class T> T load(const Byte* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return value;
}

/** A vector that does not fill what it is about to overwrite with zeros. */
struct Buffer {
  Byte* data = nullptr;
  size_t size = 0, room = 0;
  Buffer() = default;
  Buffer(Buffer&& other) noexcept : data(other.data), size(other.size), room(other.room) {
    other.data = nullptr, other.size = 0, other.room = 0;
  }
  ~Buffer() { free(data); }
  Byte* resize(size_t wanted) {
    if (wanted > room) {
      room = std::max(wanted, room * 2);
      if (!(data = static_cast<Byte*>(realloc(data, room)))) fail("no memory");
    }
    size = wanted;
    return data;
  }
  void append(const void* from, size_t bytes) {
    const size_t at = size;
    memcpy(resize(at + bytes) + at, from, bytes);
  }
  template <class T> void put(T value) { append(&value, sizeof value); }
  void text(std::string_view value) { put<uint32_t>(value.size()), append(value.data(), value.size()); }
};

/** Reads fields one behind the other, and never beyond the end. */
struct Cursor {
  const Byte *at, *end;
  const Byte* take(size_t bytes) {
    if (size_t(end - at) < bytes) fail("a record ends too early");
    return (at += bytes) - bytes;
  }
  template <class T> T get() { return load<T>(take(sizeof(T))); }
  Cursor part(size_t bytes) {
    const Byte* start = take(bytes);
    return {start, start + bytes};
  }
  std::string_view text() {
    const auto bytes = get<uint32_t>();
    return {reinterpret_cast<const char*>(take(bytes)), bytes};
  }
};

inline void readAt(int fd, Byte* to, size_t bytes, uint64_t offset) {
  while (bytes > 0) {
    const ssize_t read = pread(fd, to, bytes, static_cast<off_t>(offset));
    if (read <= 0) fail("the file cannot be read, or ends too early");
    to += read, bytes -= read, offset += read;
  }
}
