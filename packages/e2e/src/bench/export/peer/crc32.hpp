// CRC-32 as fast as memory is read.
#pragma once
#include "bytes.hpp"

#include <cstdint>

#ifdef __PCLMUL__
#include <immintrin.h>
#endif

struct CrcTables {
  uint32_t of[8][256];
  constexpr CrcTables() : of() {
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t crc = byte;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
      of[0][byte] = crc;
    }
    for (int table = 1; table < 8; ++table)
      for (int byte = 0; byte < 256; ++byte)
        of[table][byte] = (of[table - 1][byte] >> 8) ^ of[0][of[table - 1][byte] & 255];
  }
};
constexpr CrcTables kCrc;

/** The register of a CRC-32, eight bytes at a time. */
inline uint32_t crcBySlices(uint32_t reg, const Byte* at, size_t bytes) {
  const auto& of = kCrc.of;
  for (; bytes >= 8; at += 8, bytes -= 8) {
    const uint32_t low = load<uint32_t>(at) ^ reg, high = load<uint32_t>(at + 4);
    reg = of[7][low & 255] ^ of[6][low >> 8 & 255] ^ of[5][low >> 16 & 255] ^ of[4][low >> 24] ^
          of[3][high & 255] ^ of[2][high >> 8 & 255] ^ of[1][high >> 16 & 255] ^ of[0][high >> 24];
  }
  for (; bytes > 0; ++at, --bytes) reg = (reg >> 8) ^ of[0][(reg ^ *at) & 255];
  return reg;
}

#ifdef __PCLMUL__
/** Folds 64 bytes at a time by carry-less multiplication: several times as fast as the processor reads memory. */
inline uint32_t crcByFolding(uint32_t reg, const Byte* at, size_t bytes) {
  const auto loadAt = [](const Byte* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  const auto fold = [](__m128i x, __m128i by, __m128i next) {
    const __m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
  };
  const __m128i by64 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), by16 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
  __m128i x[4];
  for (int lane = 0; lane < 4; ++lane) x[lane] = loadAt(at + 16 * lane);
  x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128(static_cast<int>(reg)));
  for (at += 64, bytes -= 64; bytes >= 64; at += 64, bytes -= 64)
    for (int lane = 0; lane < 4; ++lane) x[lane] = fold(x[lane], by64, loadAt(at + 16 * lane));
  for (int lane = 1; lane < 4; ++lane) x[lane] = fold(x[lane - 1], by16, x[lane]);
  Byte rest[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), x[3]);
  return crcBySlices(crcBySlices(0, rest, 16), at, bytes);
}
#endif

/** Goes on from the CRC-32 of what came before; 0 at the beginning. */
inline uint32_t crc32(uint32_t crc, const void* bytes, size_t size) {
  const Byte* at = static_cast<const Byte*>(bytes);
#ifdef __PCLMUL__
  if (size >= 128) return ~crcByFolding(~crc, at, size);
#endif
  return ~crcBySlices(~crc, at, size);
}
