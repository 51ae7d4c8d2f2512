// Reads batches of records of Kafka, version 2, as blocks of messages.
//
// A batch (big-endian): first offset 8, length of the rest 4, epoch of the leader 4, version 1, CRC-32C of what follows it 4,
// attributes 2 (compression in bits 0 to 2, bit 3: the broker's time, 4: of a transaction, 5: markers), last offset less the first 4,
// first time 8, largest time 8, id of the producer 8, its epoch 2, first sequence 4, count 4, and the records, which may be compressed.
// A record, in numbers of seven bits a byte: length, attributes 1, time less the first, offset less the first, key and value (length, -1
// for null, and bytes), count of headers, and the headers (name and value alike).

import { ServiceError } from '../../../base/errors.js';
import type { MessageBlock, StreamRecord } from '../stream-reader.js';
import { decompressBatch } from './batch-codecs.js';
import { crc32c } from './crc32c.js';

const HEADER_BYTES = 61;
const LENGTH_END = 12;
const VERSION_AT = 16;
const CRC_AT = 17;
const ATTRIBUTES_AT = 21;
const COMPRESSION = 7;
const LOG_TIME = 8;
const TRANSACTIONAL = 16;
const CONTROL = 32;
const WORD = 2 ** 32;
/** Bytes that compressed batches become at a time: those behind them are asked for again. */
const DECOMPRESSED_BYTES_ENOUGH = 2 ** 25;
/** A record without key, value and headers: seven numbers of one byte each. */
const RECORD_BYTES_MIN = 7;

export interface PlaceOfBatches {
  readonly topic: string;
  /** Name as in `Offsets`. */
  readonly name: string;
}

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

export interface ReadBatches {
  readonly blocks: readonly MessageBlock[];
  /** Offset behind the last batch that was read. */
  readonly next: number;
  /** Bytes in memory: as they came, and decompressed. */
  readonly sizeBytes: number;
}

export interface BatchesToRead {
  readonly place: PlaceOfBatches;
  /** Offset of the first message that is wanted. */
  readonly from: number;
  /** Transactions that were aborted and have messages among these. */
  readonly aborted: readonly AbortedTransaction[];
  /** Whether checksums are compared. */
  readonly checks: boolean;
}

/**
 * The messages of whole batches, as far as there is room for what they become; one that is cut off at the end is left out.
 * @throws ServiceError `input_unreadable` for damaged batches and those of before Kafka 0.11
 */
export function readRecordBatches(bytes: Buffer, { place, from, aborted, checks }: BatchesToRead): ReadBatches {
  const waiting = aborted.toSorted((one, other) => (one.firstOffset < other.firstOffset ? -1 : 1));
  const abortedIds = new Set<bigint>();
  const blocks: MessageBlock[] = [];
  let messages: Messages | null = null;
  let [next, made] = [from, 0];
  const finish = (): void => {
    if (messages !== null && messages.count > 0) blocks.push(messages.block());
    messages = null;
  };
  for (let start = 0; start + LENGTH_END <= bytes.length && made < DECOMPRESSED_BYTES_ENOUGH; ) {
    const first = longAt(bytes, start);
    const end = start + LENGTH_END + bytes.readInt32BE(start + 8);
    if (end > bytes.length) break;
    const fault = (what: string): ServiceError =>
      new ServiceError('input_unreadable', `partition ${place.name} of topic ${place.topic}: the batch at offset ${first} ${what}`);
    if (end < start + HEADER_BYTES) throw fault('is damaged: it is too short');
    if (bytes[start + VERSION_AT] !== 2) throw fault('has the format of before Kafka 0.11, which is not read');
    if (checks && crc32c(bytes.subarray(start + ATTRIBUTES_AT, end)) !== bytes.readUInt32BE(start + CRC_AT))
      throw fault('is damaged: its checksum differs');
    const attributes = bytes.readInt16BE(start + ATTRIBUTES_AT);
    const last = first + bytes.readInt32BE(start + 23);
    const producer = bytes.readBigInt64BE(start + 43);
    while ((waiting[0]?.firstOffset ?? Infinity) <= last) abortedIds.add(waiting.shift()?.producerId ?? -1n);
    const isWanted = (attributes & CONTROL) === 0 && !((attributes & TRANSACTIONAL) !== 0 && abortedIds.has(producer));
    // Markers end transactions: what their producer writes behind one belongs to the next.
    if ((attributes & CONTROL) !== 0) abortedIds.delete(producer);
    const count = bytes.readInt32BE(start + 57);
    if (count < 0 || last < first) throw fault('is damaged: it has fewer than no messages');
    if (isWanted && last >= from && count > 0) {
      const facts: BatchFacts = {
        place,
        first,
        last,
        firstMs: longAt(bytes, start + 27),
        logMs: (attributes & LOG_TIME) === 0 ? null : longAt(bytes, start + 35),
        count,
        from,
      };
      try {
        if ((attributes & COMPRESSION) === 0) {
          messages ??= new Messages(bytes, place);
          messages.take(facts, start + HEADER_BYTES, end);
        } else {
          finish();
          const records = decompressBatch(attributes & COMPRESSION, bytes.subarray(start + HEADER_BYTES, end));
          made += records.length;
          messages = new Messages(records, place);
          messages.take(facts, 0, records.length);
          finish();
        }
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        throw fault(`is damaged: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    next = Math.max(next, last + 1);
    start = end;
  }
  finish();
  return { blocks, next, sizeBytes: bytes.length + made };
}

interface BatchFacts {
  readonly place: PlaceOfBatches;
  readonly first: number;
  readonly last: number;
  readonly firstMs: number;
  /** The time of all messages; null: each has its own. */
  readonly logMs: number | null;
  readonly count: number;
  readonly from: number;
}

function longAt(bytes: Buffer, at: number): number {
  return bytes.readInt32BE(at) * WORD + bytes.readUInt32BE(at + 4);
}

/** Place of the next byte that `varint` and `varlong` read. */
let at = 0;

/** A number of at most 32 bits, its sign in the lowest one. */
function varint(bytes: Uint8Array): number {
  let byte = bytes[at++] ?? 0;
  let value = byte & 127;
  for (let shift = 7; byte >= 128 && shift < 35; shift += 7) {
    byte = bytes[at++] ?? 0;
    value |= (byte & 127) << shift;
  }
  return (value >>> 1) ^ -(value & 1);
}

/** The same of at most 53 bits. */
function varlong(bytes: Uint8Array): number {
  let byte = bytes[at++] ?? 0;
  let value = byte & 127;
  for (let unit = 128; byte >= 128 && unit < 2 ** 63; unit *= 128) {
    byte = bytes[at++] ?? 0;
    value += (byte & 127) * unit;
  }
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** Passes the headers of a record, which end where it does. @throws Error for damaged ones */
function passHeaders(bytes: Buffer, recordEnd: number): void {
  let left = varint(bytes);
  if (left < 0) throw new Error('a record has fewer than no headers');
  for (; left > 0 && at < recordEnd; left--) {
    const nameLength = varint(bytes);
    if (nameLength < 0) throw new Error('a header has no name');
    at += nameLength;
    const length = varint(bytes);
    if (length > 0) at += length;
  }
  if (left > 0 || at !== recordEnd) throw new Error('a record is not as long as its fields');
}

/** Messages that lie in the same bytes. */
class Messages {
  readonly #bytes: Buffer;
  readonly #place: PlaceOfBatches;
  #offsets = new Float64Array(64);
  #times = new Float64Array(64);
  #starts = new Int32Array(64);
  #ends = new Int32Array(64);
  #keyStarts = new Int32Array(64);
  #keyEnds = new Int32Array(64);
  count = 0;

  constructor(bytes: Buffer, place: PlaceOfBatches) {
    this.#bytes = bytes;
    this.#place = place;
  }

  /** Takes in the records of a batch that lie in `[start, end)`, from an offset on. @throws Error for damaged ones */
  take({ first, last, firstMs, logMs, count, from }: BatchFacts, start: number, end: number): void {
    if (count * RECORD_BYTES_MIN > end - start) throw new Error('it has more messages than fit into its bytes');
    this.#grow(count);
    const bytes = this.#bytes;
    const [offsets, times, starts, ends] = [this.#offsets, this.#times, this.#starts, this.#ends];
    const [keyStarts, keyEnds] = [this.#keyStarts, this.#keyEnds];
    let to = this.count;
    let least = first;
    at = start;
    for (let taken = 0; taken < count; taken++) {
      const length = varint(bytes);
      const recordEnd = at + length;
      if (length < 6 || recordEnd > end) throw new Error('a record is longer than its batch');
      at++;
      const time = varlong(bytes);
      const offset = first + varint(bytes);
      if (offset < least || offset > last) throw new Error('the offset of a record is not one of its batch');
      least = offset + 1;
      const keyLength = varint(bytes);
      const keyStart = at;
      if (keyLength > 0) at += keyLength;
      const valueLength = varint(bytes);
      const valueStart = at;
      if (valueLength > 0) at += valueLength;
      if (at >= recordEnd || keyLength < -1 || valueLength < -1) throw new Error('a field is longer than its record');
      passHeaders(bytes, recordEnd);
      if (offset < from) continue;
      offsets[to] = offset;
      times[to] = logMs ?? firstMs + time;
      keyStarts[to] = keyStart;
      keyEnds[to] = keyLength < 0 ? -1 : keyStart + keyLength;
      starts[to] = valueStart;
      ends[to] = valueLength < 0 ? -1 : valueStart + valueLength;
      to++;
    }
    if (at !== end) throw new Error('bytes stand behind its last record');
    this.count = to;
  }

  block(): MessageBlock {
    return this.#part(0, this.count);
  }

  #part(from: number, to: number): MessageBlock {
    const [count, bytes] = [to - from, this.#bytes];
    return {
      partition: this.#place.name,
      topic: this.#place.topic,
      count,
      bytes,
      offsets: this.#offsets.subarray(from, to),
      times: this.#times.subarray(from, to),
      starts: this.#starts.subarray(from, to),
      ends: this.#ends.subarray(from, to),
      keys: { count, bytes, starts: this.#keyStarts.subarray(from, to), ends: this.#keyEnds.subarray(from, to) },
      headers: (row) => this.#headers(this.#headersAt(from + row)),
      record: (row) => this.#record(from + row),
      part: (start, end) => this.#part(from + start, from + end),
    };
  }

  #record(row: number): StreamRecord {
    const [start, end] = [this.#starts[row] ?? 0, this.#ends[row] ?? 0];
    const [keyStart, keyEnd] = [this.#keyStarts[row] ?? 0, this.#keyEnds[row] ?? 0];
    return {
      partition: this.#place.name,
      offset: String(this.#offsets[row] ?? 0),
      timestampMs: this.#times[row] ?? 0,
      topic: this.#place.topic,
      key: keyEnd < 0 ? null : this.#bytes.subarray(keyStart, keyEnd),
      values: [end < 0 ? null : this.#bytes.subarray(start, end)],
      headers: this.#headers(this.#headersAt(row)),
    };
  }

  #headersAt(row: number): number {
    const end = this.#ends[row] ?? 0;
    return end < 0 ? (this.#starts[row] ?? 0) : end;
  }

  #headers(start: number): StreamRecord['headers'] {
    const bytes = this.#bytes;
    const headers: (readonly [string, Uint8Array | null])[] = [];
    at = start;
    for (let left = varint(bytes); left > 0; left--) {
      const nameLength = varint(bytes);
      const name = bytes.toString('utf8', at, at + nameLength);
      at += nameLength;
      const length = varint(bytes);
      headers.push([name, length < 0 ? null : bytes.subarray(at, at + length)]);
      if (length > 0) at += length;
    }
    return headers;
  }

  #grow(count: number): void {
    const needed = this.count + count;
    if (needed <= this.#starts.length) return;
    const size = Math.max(needed, this.#starts.length * 2);
    const [offsets, times] = [new Float64Array(size), new Float64Array(size)];
    offsets.set(this.#offsets);
    times.set(this.#times);
    [this.#offsets, this.#times] = [offsets, times];
    const grown = (values: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
      const larger = new Int32Array(size);
      larger.set(values);
      return larger;
    };
    [this.#starts, this.#ends] = [grown(this.#starts), grown(this.#ends)];
    [this.#keyStarts, this.#keyEnds] = [grown(this.#keyStarts), grown(this.#keyEnds)];
  }
}
