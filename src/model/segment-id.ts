// Prints and parses segment ids.

import type { EpochMs } from '../base/instant.js';
import { formatInstant, parseInstant } from '../base/time.js';
import type { SegmentDescriptor, SegmentId } from './segment.js';

/**
 * The printed form of a segment id: `<dataSource>_<start>_<end>_<version>`, and `_<partition>` unless it is 0:
 * `wiki_2015-09-12T00:00:00.000Z_2015-09-13T00:00:00.000Z_2026-01-01T00:00:00.000Z_3`.
 */
export function segmentIdText(id: SegmentId): string {
  // Joined, a text is in one piece: it is the key of maps, and a template of this length is a tree of pieces until it is looked up.
  const parts = [id.dataSource, instantText(id.interval.start), instantText(id.interval.end), id.version];
  if (id.partitionNumber !== 0) parts.push(String(id.partitionNumber));
  return parts.join('_');
}

/** Instants that were printed last: very many segments begin and end at the same ones. */
const PRINTED_INSTANTS = new Map<EpochMs, string>();
const PRINTED_INSTANTS_KEPT = 4096;

function instantText(instant: EpochMs): string {
  let text = PRINTED_INSTANTS.get(instant);
  if (text === undefined) {
    if (PRINTED_INSTANTS.size >= PRINTED_INSTANTS_KEPT) PRINTED_INSTANTS.clear();
    PRINTED_INSTANTS.set(instant, (text = formatInstant(instant)));
  }
  return text;
}

/** A constructor whose objects are those that it is given: fields of classes that extend it become private fields of these. */
const Given = asItIs as unknown as new (given: object) => object;

function asItIs(given: object): object {
  return given;
}

/**
 * The printed id of a segment, a private field of its descriptor: copies of it have none, and whatever lists fields does not see it. A weak
 * map of very many segments takes several times as long, and every collection of garbage goes through it.
 */
class Printed extends Given {
  #text: string;

  constructor(segment: SegmentDescriptor, text: string) {
    super(segment);
    this.#text = text;
  }

  static find(segment: SegmentDescriptor): string | undefined {
    return #text in segment ? segment.#text : undefined;
  }
}

/** The printed id of a segment, which is printed once. */
export function idTextOf(segment: SegmentDescriptor): string {
  const known = Printed.find(segment);
  if (known !== undefined) return known;
  const text = segmentIdText(segment.id);
  new Printed(segment, text);
  return text;
}

/** Notes the printed id of a segment, which is known: none is printed again. */
export function noteIdText(segment: SegmentDescriptor, text: string): void {
  if (Printed.find(segment) === undefined) new Printed(segment, text);
}

const INSTANT = String.raw`-?\d{4,9}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
// The shortest name wins: what follows it holds exactly two instants and a version, which has no underscores and is
// not a number, so a name that itself contains underscores, or whole instants, still splits in one way.
const PRINTED = new RegExp(`^(.+?)_(${INSTANT})_(${INSTANT})_((?!-?\\d+(?:_|$))[^_]+)(?:_([1-9]\\d*))?$`, 's');

/** The inverse of `segmentIdText`; `undefined` for any other text. */
export function parseSegmentId(text: string): SegmentId | undefined {
  const [, dataSource, startText, endText, version, partition = '0'] = PRINTED.exec(text) ?? [];
  if (dataSource === undefined || startText === undefined || endText === undefined || version === undefined) return undefined;
  const start = parseCanonical(startText);
  const end = parseCanonical(endText);
  const partitionNumber = Number(partition);
  if (start === undefined || end === undefined || start >= end || !Number.isSafeInteger(partitionNumber)) return undefined;
  return { dataSource, interval: { start, end }, version, partitionNumber };
}

/** Only instants as we print them: two texts never name one segment. */
function parseCanonical(text: string): EpochMs | undefined {
  const instant = parseInstant(text);
  return instant !== undefined && formatInstant(instant) === text ? instant : undefined;
}
