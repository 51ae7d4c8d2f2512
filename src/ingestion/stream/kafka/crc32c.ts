// CRC-32C (Castagnoli), the checksum of batches of Kafka, eight bytes a step.

const POLYNOMIAL = 0x82f63b78;

/** Table i tells what a byte, followed by i others, makes of the remainder. */
const TABLES = ((): readonly Uint32Array[] => {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0);
    return remainder;
  });
  const tables = [first];
  for (let place = 1; place < 8; place++) {
    const before = tables[place - 1] ?? first;
    tables.push(before.map((remainder) => (remainder >>> 8) ^ (first[remainder & 255] ?? 0)));
  }
  return tables;
})();
const [T0, T1, T2, T3, T4, T5, T6, T7] = TABLES as unknown as readonly [
  ...[Uint32Array, Uint32Array, Uint32Array, Uint32Array],
  ...[Uint32Array, Uint32Array, Uint32Array, Uint32Array],
];

export function crc32c(bytes: Uint8Array): number {
  let remainder = -1;
  let at = 0;
  for (; at + 8 <= bytes.length; at += 8) {
    remainder ^=
      (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
    remainder =
      (T7[remainder & 255] as number) ^
      (T6[(remainder >>> 8) & 255] as number) ^
      (T5[(remainder >>> 16) & 255] as number) ^
      (T4[remainder >>> 24] as number) ^
      (T3[bytes[at + 4] as number] as number) ^
      (T2[bytes[at + 5] as number] as number) ^
      (T1[bytes[at + 6] as number] as number) ^
      (T0[bytes[at + 7] as number] as number);
  }
  for (; at < bytes.length; at++) remainder = (remainder >>> 8) ^ (T0[(remainder ^ (bytes[at] as number)) & 255] as number);
  return ~remainder >>> 0;
}
