// The contract of kernel sets: every kernel with its meaning.

import type { Address } from '../base/layout.js';
import type { CalendarKernels } from './calendar-contract.js';
import type { DocumentKernels } from './document-contract.js';
import type { ListKernels } from './list-contract.js';
import type { PatternKernels } from './pattern-contract.js';
import type { RangeKernels } from './range-contract.js';
import type { ScanKernels } from './scan-contract.js';
import type { TextKernels } from './text-contract.js';
import type { TextIdKernels } from './text-id-contract.js';

/**
 * The contract every kernel set fulfils: `simd`, `scalar` and `reference`, or a module of the user's own.
 *
 * - The host owns all memory. A kernel reads its inputs, writes only where it is told, allocates and keeps nothing.
 * - Addresses are byte offsets into one WebAssembly memory. Arrays of values, ids, bits and states are aligned to
 *   their element at least; `values` and bit arrays of a whole block are 64-byte aligned and readable up to the next
 *   multiple of 64 rows. `rows` counts elements. 0 as an address means "absent" where a parameter says so.
 * - Bits: 64-bit little-endian words, lowest bit first; bits past `rows` in the last word are written as 0.
 * - Calls cover at most one block (16,384 rows) unless a kernel says otherwise; runs without a mask, and `timeRuns`, may
 *   span STRETCH_ROWS, `keyNarrow` any number.
 * - Every set gives the same bytes. Floating-point sums have a fixed order (`sumRuns`), so that this can hold.
 * - NaN: comparisons with NaN are false; min and max skip NaN and give a zero as +0.
 *
 * Suffixes name the type of `values`: U8 U16 U32 I64 F32 F64.
 */
export type Id = 'U8' | 'U16' | 'U32';
export type Num = Id | 'I64' | 'F32' | 'F64';

/** Types of ids that need no widening to be group numbers of few groups. */
export type Narrow = 'U8' | 'U16';

/** Rows of runs without a mask: longer calls, because a narrow column's block is too short for memory to get up to speed. */
export const STRETCH_ROWS = 65_536;

/** Rows of one `tally`, whose counts have 16 bits until it ends: three blocks. */
export const TALLY_ROWS = 49_152;

type Tally = (ids: Address, values: Address, n: number, groupCount: number, scratch: Address, counts: Address, sums: Address) => void;

type PerType<Name extends string, Types extends string, Fn> = { readonly [T in Types as `${Name}${T}`]: Fn };

export type KernelSet =
  // ── filter.ts: predicates write one bit per row ────────────────────────────────────────────────────────────────
  PerType<'filterEq', Id, (values: Address, rows: number, id: number, out: Address) => void> &
  /** lower <= value <= upper, unsigned. */
  PerType<'filterRange', Id, (values: Address, rows: number, lower: number, upper: number, out: Address) => void> &
  /** lower <= value <= upper; NaN rows do not match. F32 bounds come as f64 and are compared as f64. */
  { readonly filterRangeI64: (values: Address, rows: number, lower: bigint, upper: bigint, out: Address) => void } &
  PerType<'filterRange', 'F32' | 'F64', (values: Address, rows: number, lower: number, upper: number, out: Address) => void> &
  /** Bit `value` of `set` (padded to 64-bit words, at least as many bits as the largest value + 1). U8: 256 bits. */
  PerType<'filterSet', Id, (values: Address, rows: number, set: Address, out: Address) => void> &
  /** Binary search in `sorted` (ascending, `count` values; U types compare unsigned, F32 as f32). */
  PerType<'filterSorted', Num, (values: Address, rows: number, sorted: Address, count: number, out: Address) => void> &
  /** Multi-value: any of `ids[offsets[i]..offsets[i+1])` in `set`. `offsets` u32, absolute into ids. */
  PerType<'filterAny', Id, (ids: Address, offsets: Address, rows: number, set: Address, out: Address) => void> &
  /** Multi-value: out[i] u32 is the id at `place` of the values of row i, and `shift` more; 0 where it has no such value. */
  PerType<'listElement', Id, (ids: Address, offsets: Address, rows: number, place: number, shift: number, out: Address) => void> &
  /** Multi-value: out[i] i64 is the place of the first value of row i that is `id`; -1 where it has none. */
  PerType<'listPlace', Id, (ids: Address, offsets: Address, rows: number, id: number, out: Address) => void> &
  /** Multi-value: the row has no value (offsets equal). */
  { readonly filterEmpty: (offsets: Address, rows: number, out: Address) => void } &

  // ── bitmap.ts: whole words; `words` counts 64-bit words; `out` may be `a` or `b` ────────────────────────────────
  {
    readonly bitsAnd: (a: Address, b: Address, words: number, out: Address) => void;
    readonly bitsOr: (a: Address, b: Address, words: number, out: Address) => void;
    /** a and not b. */
    readonly bitsAndNot: (a: Address, b: Address, words: number, out: Address) => void;
    /** Complement of the first `rows` bits; bits past them become 0. */
    readonly bitsNot: (a: Address, rows: number, out: Address) => void;
    /** Sets bits [start, end) and clears all others of the first `words` words. */
    readonly bitsFill: (out: Address, words: number, start: number, end: number) => void;
    readonly bitsCount: (a: Address, words: number) => number;
    /** Row numbers (u32) of the set bits in [start, end), ascending; returns how many. Any number of bits. */
    readonly bitsToRows: (a: Address, start: number, end: number, out: Address) => number;
    /** ORs 1 << id for each id of a u32 array into `out` (any number of ids). */
    readonly bitsMark: (ids: Address, count: number, out: Address) => void;
  } &

  // ── aggregate.ts: runs. A run is {u32 group, u32 start, u32 end}: rows [start, end) of the block belong to group.
  // `mask` is a bit array over the block, or 0 for all rows. A group may have several runs. State is indexed by group.
  {
    /** i64 state[group] += selected rows. */
    readonly countRuns: (mask: Address, runs: Address, runCount: number, state: Address) => void;
    /** u8 state[group] = 1 when a selected row exists. */
    readonly presentRuns: (mask: Address, runs: Address, runCount: number, state: Address) => void;
  } &
  /** i64 state[group] += sum of selected values (without base), wrapping. */
  PerType<'sumRuns', Id | 'I64', (values: Address, mask: Address, runs: Address, runCount: number, state: Address) => void> &
  /**
   * f64 state[group] = state[group] + runSum. All partial sums start at +0 and take their rows in ascending order.
   * Without a mask four stretches of a run are summed side by side, because memory delivers faster on four streams: with
   * q = 4 * floor((end - start) / 16), row start + k * q + i (k < 4, i < q) goes to s[k][i & 3], and the rows left over,
   * fewer than 16, to t. With c[j] = (s[0][j] + s[1][j]) + (s[2][j] + s[3][j]): runSum = ((c[0] + c[2]) + (c[1] + c[3])) + t.
   * With a mask the row at block position p goes to s[p & 7] (unselected rows add +0):
   * runSum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])).
   */
  PerType<'sumRuns', 'F32' | 'F64', (values: Address, mask: Address, runs: Address, runCount: number, state: Address) => void> &
  /** state[group] = min(state[group], selected values): u32 state for Id types, i64 for I64, f64 for F32 and F64. */
  PerType<'minRuns', Num, (values: Address, mask: Address, runs: Address, runCount: number, state: Address) => void> &
  PerType<'maxRuns', Num, (values: Address, mask: Address, runs: Address, runCount: number, state: Address) => void> &

  // ── group.ts: scattered rows. Position i of n belongs to group `groups[i]` (u32); its value is values[rows[i]], or
  // values[i] when `rows` is 0. Rows may repeat (multi-value). n is at most one block unless `rows` is 0.
  {
    readonly countGroups: (groups: Address, n: number, state: Address) => void;
    readonly presentGroups: (groups: Address, n: number, state: Address) => void;
    /** i64 state[groups[i]] = it and (operation 0), or (1), xor (2) values[i], by position; u8 seen[groups[i]] = 1. */
    readonly foldBitsGroupsI64: (values: Address, groups: Address, n: number, operation: number, state: Address, seen: Address) => void;
  } &
  PerType<'sumGroups', Id | 'I64', (values: Address, rows: Address, groups: Address, n: number, state: Address) => void> &
  /**
   * f64 state with `copies` (1 or 4) interleaved partial sums per group: state[group * copies + (i & (copies - 1))] +=
   * value. The host folds copies as (c0 + c2) + (c1 + c3) with `foldSums`.
   */
  PerType<'sumGroups', 'F32' | 'F64', (values: Address, rows: Address, groups: Address, n: number, state: Address, copies: number) => void> &
  /** Count and sum in one word: u64 words[group] += 2^40 + value. The host keeps counts below 2^23, and so sums below 2^40. */
  PerType<'countSumGroups', Narrow, (values: Address, rows: Address, groups: Address, n: number, words: Address) => void> &
  {
    /** Takes words apart: i64 sums[groups[i]] += the low 40 bits of words[cells[i]], counts the bits above; 0: not wanted. */
    readonly foldCountSums: (words: Address, cells: Address, groups: Address, n: number, counts: Address, sums: Address) => void;
  } &
  PerType<'minGroups', Num, (values: Address, rows: Address, groups: Address, n: number, state: Address) => void> &
  PerType<'maxGroups', Num, (values: Address, rows: Address, groups: Address, n: number, state: Address) => void> &
  {
    /** f64 out[g] = (s[4g] + s[4g+2]) + (s[4g+1] + s[4g+3]); any number of groups; out may be state. */
    readonly foldSums: (state: Address, groupCount: number, out: Address) => void;
    /** Takes f64 values[i] (by position) into four f64 of its group: count, sum, mean, squared distances from the mean, by Welford's formula. */
    readonly addMoments: (values: Address, groups: Address, n: number, state: Address) => void;
    /** Joins such states by Chan's formula: the i-th of `from` with that of groups[i]; those without values change nothing. */
    readonly joinMoments: (from: Address, groups: Address, n: number, state: Address) => void;
    /** Keeps positions whose row (rows[i], or i) has its bit set in mask: writes outRows, outGroups; returns how many. In place allowed. */
    readonly compactMask: (mask: Address, rows: Address, groups: Address, n: number, outRows: Address, outGroups: Address) => number;
    /** The same, keeping rows whose bit is clear (a null mask). */
    readonly compactNotMask: (mask: Address, rows: Address, groups: Address, n: number, outRows: Address, outGroups: Address) => number;
    /** Keeps positions whose value equals the state of their group: i64 values[i] (position, not row) and state[groups[i]]. In place allowed. */
    readonly compactBestI64: (values: Address, rows: Address, groups: Address, n: number, state: Address, outRows: Address, outGroups: Address) => number;
    /**
     * Keeps positions whose mark u8 marks[groups[i] * stride + ids[i]] is 0, and sets it; all of groups from `groupCount` on. u32 ids[i] below
     * `stride`, by position. Writes outRows, outGroups; returns how many. In place allowed.
     */
    readonly compactUnmarked: (ids: Address, rows: Address, groups: Address, n: number, groupCount: number, stride: number, marks: Address, outRows: Address, outGroups: Address) => number;
    /** The k smallest keys of each group so far, or of the different ones, ascending: i64 state[group * k + place], at first the greatest i64. keys[i] by position. */
    readonly smallestGroupsI64: (keys: Address, groups: Address, n: number, k: number, state: Address) => void;
    readonly smallestDistinctGroupsI64: (keys: Address, groups: Address, n: number, k: number, state: Address) => void;
    /** Keeps positions whose key is at most bounds[groups[i] * stride], i64: writes outKeys, outRows, outGroups. In place allowed. */
    readonly compactWithinI64: (keys: Address, rows: Address, groups: Address, n: number, bounds: Address, stride: number, outKeys: Address, outRows: Address, outGroups: Address) => number;
    /**
     * The least or (`largest`) greatest key of each group among the positions of its best time. i64 keys[i] (position, not
     * row); the row's bit in `nulls` (0: none) says that it has no key. times[group] (0: all are equal) is the best time so
     * far, which each position of the group has; where keyTimes[group] is another, what is known is forgotten first.
     * known[group]: 0 before any position, 1 after nulls alone, 2 with the key in best[group].
     */
    readonly bestAtTimesI64: (keys: Address, nulls: Address, rows: Address, groups: Address, n: number, times: Address, largest: number, keyTimes: Address, best: Address, known: Address) => void;
  } &

  // ── tally.ts: all rows of a stretch, under keys of few values. Position i of n belongs to group ids[i] < groupCount,
  // and groupCount is at most 4,096; n is at most TALLY_ROWS. `scratch`: u64[4 * groupCount], zeros before and after the
  // call. Counts are taken along with sums: i64 counts[group] += rows, where `counts` is not 0.
  PerType<'tally', Narrow, (ids: Address, n: number, groupCount: number, scratch: Address, counts: Address) => void> &
  /** i64 sums[group] += values (without base). */
  PerType<`tally${Narrow}`, Id, Tally> &
  /** f64 sums in four copies, as `sumGroups` keeps them: sums[group * 4 + (i & 3)] += value. */
  PerType<`tally${Narrow}`, 'F64', Tally> &
  /** Two integer sums at once, of u16 values without base; groupCount is at most 512. */
  PerType<'tallyPair', Narrow, (ids: Address, a: Address, b: Address, n: number, groupCount: number, scratch: Address, counts: Address, sumsA: Address, sumsB: Address) => void> &
  /** Dense keys below 65,536: out[i] = (accumulate ? out[i] : 0) + value * stride, u16. */
  PerType<'keyNarrow', Narrow, (values: Address, n: number, stride: number, accumulate: number, out: Address) => void> &

  // ── keys.ts: group indices from key columns ────────────────────────────────────────────────────────────────────
  /** Dense: out[i] = (accumulate ? out[i] : 0) + value * stride, u32. */
  PerType<'keyDense', Id, (values: Address, rows: Address, n: number, stride: number, accumulate: number, out: Address) => void> &
  /** Hashed keys are `words` u64 each, key-major: out[i * words + word] |= (u64 value) << shift, or = when `assign`. */
  PerType<'keyWord', Id | 'I64', (values: Address, rows: Address, n: number, words: number, word: number, shift: number, assign: number, out: Address) => void> &
  /** f64 (F32 widened) bits, -0 as +0 and every NaN as one. Always assigns. */
  PerType<'keyWord', 'F32' | 'F64', (values: Address, rows: Address, n: number, words: number, word: number, out: Address) => void> &
  {
    /** For position i whose row has its null bit set: word `word` becomes 0 and bit `shift` of word `flagWord` is set. */
    readonly keyNulls: (nulls: Address, rows: Address, n: number, words: number, word: number, flagWord: number, shift: number, out: Address) => void;
    /** Run group numbers spread over positions: out[i] = (accumulate ? out[i] : 0) + group * stride, where position i is row rows[i] (ascending) or i; rows outside every run keep 0. Runs ascending, disjoint. */
    readonly keyRuns: (runs: Address, runCount: number, rows: Address, n: number, stride: number, accumulate: number, out: Address) => void;
    /** The same into a hashed key word. */
    readonly keyWordRuns: (runs: Address, runCount: number, rows: Address, n: number, words: number, word: number, shift: number, assign: number, out: Address) => void;
    /**
     * Multi-value expansion: for position i with row r = rows[i] (or i) writes one position per value:
     * outRows = r, outGroupsIn = i (u32, to gather other keys), outIds = local id + 0 (u32); a row without values writes
     * one position with id `nullId`. Returns positions written; writes at most `capacity` and returns -1 when it would not fit.
     */
    readonly expandU8: (ids: Address, offsets: Address, rows: Address, n: number, nullId: number, outRows: Address, outPositions: Address, outIds: Address, capacity: number) => number;
    readonly expandU16: KernelSet['expandU8'];
    readonly expandU32: KernelSet['expandU8'];
    /** out[i] = source[index[i]] for u32 arrays. */
    readonly gather32: (source: Address, index: Address, n: number, out: Address) => void;
    readonly gather64: (source: Address, index: Address, n: number, out: Address) => void;
    /**
     * Open addressing. Table: `slots` u32[capacity], a power of two, 0 = empty, else group + 1; `keys` u64[...] of `words` per group in order of first appearance. For each
     * of the n keys finds or adds its group; writes u32 group numbers to `out`; returns the new group count. The host guarantees (groupCount + n) * 2 <= capacity and room in `keys`. Any n.
     */
    readonly hashKeys: (input: Address, n: number, words: number, slots: Address, capacity: number, keys: Address, groupCount: number, out: Address) => number;
    /** Fills empty `slots` from `keys` after the host enlarged the table. */
    readonly rehash: (keys: Address, groupCount: number, words: number, slots: Address, capacity: number) => void;
    /** Like `hashKeys` for keys of one word that differ from `shift` bits on, which is below the length of `places` (u32, at first 0): places[key >> shift] = its number and one. */
    readonly numberKeys: (input: Address, n: number, shift: number, places: Address, keys: Address, groupCount: number, out: Address) => number;
    /**
     * Copies n keys of `words` u64 behind the first `groupCount` of `keys`, ordered by part, those of one part as they come. A key is of part p of 2^bits (1 to 12) when
     * the upper bits of its hash, that of `hashKeys`, are p. Part p gets the numbers [starts[p], starts[p + 1]), u32[2^bits + 1]; `out`: u32 number of each key.
     */
    readonly divideKeys: (input: Address, n: number, words: number, bits: number, keys: Address, groupCount: number, starts: Address, out: Address) => void;
    /** Lists the numbers of `count` ranges [u32, u32), which lie `stride` u32 apart, in order; returns how many. */
    readonly listRanges: (ranges: Address, count: number, stride: number, out: Address) => number;
  } &

  // ── time.ts ────────────────────────────────────────────────────────────────────────────────────────────────────
  /**
   * Sorted values (U32: plus base) cut at `boundaries` (i64, ascending, boundaryCount >= 2; bucket b is
   * [boundaries[b], boundaries[b+1])): writes runs {bucket, start, end} over rows [start, end) for the buckets met, in
   * order; returns how many. Values outside all buckets belong to no run.
   */
  PerType<'timeRuns', Id | 'I64', (values: Address, base: bigint, start: number, end: number, boundaries: Address, boundaryCount: number, out: Address) => number> &
  {
    /** Unsorted i64 values: out[i] (u32) = bucket by binary search, 0xffffffff outside. */
    readonly bucketI64: (values: Address, rows: number, boundaries: Address, boundaryCount: number, out: Address) => void;
    /** out[i] = floor((value - origin) / width) * width + origin, i64. */
    readonly floorI64: (values: Address, rows: number, width: bigint, origin: bigint, out: Address) => void;
  } &
  /** First row in [start, end) of an ascending array with value (+ base) >= bound; `end` when none. Any number of rows. */
  PerType<'lowerBound', Id | 'I64', (values: Address, base: bigint, start: number, end: number, bound: bigint) => number> &

  // ── calendar.ts: instants and dates (calendar-contract.ts)
  CalendarKernels &

  // ── compute.ts: expression batches ─────────────────────────────────────────────────────────────────────────────
  /** Widen to i64 (adding base) or to f64; `rows` 0 (absent) or a u32 selection. */
  PerType<'toI64', Id | 'I64', (values: Address, rows: Address, n: number, base: bigint, out: Address) => void> &
  PerType<'toF64', Num, (values: Address, rows: Address, n: number, base: bigint, out: Address) => void> &
  /** out[rows[i]] = (base + values[rows[i]]) / scale, for rows without repeats (u32). */
  PerType<'decimalsAt', Id, (values: Address, rows: Address, n: number, base: bigint, scale: number, out: Address) => void> &
  /** Element-wise; `b` is an array, or one element when `scalar` is 1. i64 wraps. out may be a or b. */
  PerType<'add' | 'subtract' | 'multiply', 'I64' | 'F64', (a: Address, b: Address, scalar: number, n: number, out: Address) => void> &
  PerType<'divide', 'F64', (a: Address, b: Address, scalar: number, n: number, out: Address) => void> &
  /** Compares element-wise into bits: operation 0 eq, 1 lt, 2 le. */
  PerType<'compare', 'I64' | 'F64', (a: Address, b: Address, scalar: number, n: number, operation: number, out: Address) => void> &

  // ── number.ts: functions of numbers; `out` may be any of the arrays read ────────────────────────────────────────
  /** Element-wise as above. Quotient cut towards zero, remainder with the sign of `a`: of a division by 0 both are 0. Shifts by the low six bits of `b`. */
  PerType<'divide' | 'remainder' | 'and' | 'or' | 'xor' | 'shiftLeft' | 'shiftRight', 'I64', (a: Address, b: Address, scalar: number, n: number, out: Address) => void> &
  {
    /** Magnitudes; that of the lowest i64 is itself. */
    readonly absI64: (values: Address, n: number, out: Address) => void;
    /** Operation 0 floor, 1 ceil, 2 towards zero, 3 nearest (half to even), 4 sign (that of a zero or NaN is itself), 5 square root, 6 magnitude, 7 negated, 8 as f32 keeps it, 9 natural logarithm. */
    readonly mapF64: (values: Address, n: number, operation: number, out: Address) => void;
    /**
     * Half away from zero, on the digits that a value prints with, never -0; `power` is 10 to as many places as are kept, at most 22, and 1 where
     * numbers are rounded to multiples of `unit`, a power of 10 up to 1e14, which is 1 otherwise. Values of which magnitude * power is not below
     * 1e14 stay as they are. Returns how many these are.
     */
    readonly roundF64: (values: Address, n: number, power: number, unit: number, out: Address) => number;
    /** The same, cut towards zero. */
    readonly cutF64: (values: Address, n: number, power: number, unit: number, out: Address) => number;
    /** f64 → i64 towards zero; beyond its range the nearest i64, NaN 0. */
    readonly truncateF64: (values: Address, n: number, out: Address) => void;
    /** i64 1 for a set bit, else 0. */
    readonly bitsToI64: (bits: Address, n: number, out: Address) => void;
    /** f64 → i64 that compare as the values do: -0 below +0, every NaN as one above all. x ^ (x < 0 ? 2^63 - 1 : 0) of the bits x. */
    readonly sortableF64: (values: Address, n: number, out: Address) => void;
    /** Like `compareF64`, in a total order: NaN equals itself and is above all else; zeros are equal. */
    readonly orderF64: (a: Address, b: Address, scalar: number, n: number, operation: number, out: Address) => void;
    /** out[i] = bit i of mask is set ? a[i] : b[i], of 4 bytes each; `a` is one element when `oneA` is 1, `b` when `oneB` is. */
    readonly choose32: (mask: Address, a: Address, oneA: number, b: Address, oneB: number, n: number, out: Address) => void;
    /** The same of 8 bytes. */
    readonly choose64: KernelSet['choose32'];
  } &

  // ── decode.ts ──────────────────────────────────────────────────────────────────────────────────────────────────
  {
    /** `rows` values of `width` bits (1..32), packed lowest bit first, readable 16 bytes past the end; into out of 1, 2 or 4 bytes. Any rows. */
    readonly unpackU8: (packed: Address, rows: number, width: number, out: Address) => void;
    readonly unpackU16: (packed: Address, rows: number, width: number, out: Address) => void;
    readonly unpackU32: (packed: Address, rows: number, width: number, out: Address) => void;
    /** Running sum in place: values[i] += values[i-1], starting at `first`. Any rows. */
    readonly prefixSumU32: (values: Address, rows: number, first: number) => void;
    readonly prefixSumI64: (values: Address, rows: number, first: bigint) => void;
  } &

  // ── dictionary.ts: packed UTF-8 strings, `offsets` u32[count + 1] relative to `bytes`; any count ──────────────────
  {
    /**
     * LIKE: pattern compiled by the host to bytes, see `likeBytes` of `base/like-pattern.ts`. Writes one bit per entry in [start, end)
     * (absolute bit numbers), 0 or 1; earlier bits stay, bits past `end` in its last 64-bit word become 0.
     */
    readonly dictionaryLike: (bytes: Address, offsets: Address, start: number, end: number, pattern: Address, patternBytes: number, out: Address) => void;
    /**
     * Finds or appends entries in a datasource-wide dictionary. `slots` u32[capacity] as in `hashKeys`; `entries`
     * {u32 address, u32 length}; new strings are copied to `arena` + arenaUsed (a 4-byte-aligned bump, host guarantees
     * room for all bytes, each length rounded up to 4). Entry `nullEntry` (or -1) of the input maps to global 0, which is
     * never in `slots`: the host starts with counters {1, 0} and entries[0] = {0, 0}. Writes remap u32[count];
     * `counters` holds u32 {entryCount, arenaUsed} in and out. The host guarantees (entryCount + count) * 2 <= capacity.
     */
    readonly dictionaryIntern: (bytes: Address, offsets: Address, count: number, nullEntry: number, slots: Address, capacity: number, entries: Address, arena: Address, counters: Address, remap: Address) => void;
    /** Fills empty `slots` from entries[1 .. entryCount). */
    readonly dictionaryRehash: (entries: Address, entryCount: number, slots: Address, capacity: number) => void;
  } &

  // ── text.ts and beside it ────────────────────────────────────────────────────────────────────────────────────────
  TextKernels &

  // ── scan.ts: input text (scan-contract.ts) ─────────────────────────────────────────────────────────────────────
  ScanKernels &

  // ── text-ids.ts: texts of input to ids (text-id-contract.ts) ───────────────────────────────────────────────────
  TextIdKernels &

  // ── lists.ts: values by group (list-contract.ts); arrays.ts: arrays (array-contract.ts) ─────────────────────────
  ListKernels &

  // ── documents.ts: parts of texts that are JSON (document-contract.ts) ────────────────────────────────────────────
  DocumentKernels &

  // ── patterns.ts: any number of texts ─────────────────────────────────────────────────────────────────────────────
  PatternKernels &

  // ── hash.ts: any number of rows. MurmurHash3 of 128 bits: out[2i] and out[2i + 1] are the two u64 words ────────────
  {
    /** Murmur hashes of packed strings (as above): of entry ids[i], or of entry i where `ids` is 0. */
    readonly murmurTexts: (bytes: Address, offsets: Address, ids: Address, n: number, seed: number, out: Address) => void;
    /** The same of their UTF-16 code units, two bytes each, lowest first. */
    readonly murmurUtf16: (bytes: Address, offsets: Address, ids: Address, n: number, seed: number, out: Address) => void;
    /** Murmur hashes of 8 bytes each, lowest first. */
    readonly murmurI64: (values: Address, n: number, seed: number, out: Address) => void;
    /** The same; zeros hash alike, and NaNs. */
    readonly murmurF64: (values: Address, n: number, seed: number, out: Address) => void;
  } &

  // ── join.ts: any number of rows. A row or a key number of 0xffffffff is absent: a row of nulls, a key that is not there.
  {
    /** Texts of one sorted dictionary in another (packed as above, ascending by UTF-16 code units): out[entry] = the entry of `other` that has the text, or absent; for entries [first, count) and [otherFirst, otherCount) only. */
    readonly joinTexts: (bytes: Address, offsets: Address, first: number, count: number, otherBytes: Address, otherOffsets: Address, otherFirst: number, otherCount: number, out: Address) => void;
    /** Like `hashKeys`, but adds nothing: u32 numbers of the keys that are there, else absent. */
    readonly joinFind: (input: Address, n: number, words: number, slots: Address, capacity: number, keys: Address, out: Address) => void;
    /** numbers[i] becomes absent where bit i is set. */
    readonly joinDropNulls: (nulls: Address, n: number, numbers: Address) => void;
    /** Rows by key number: key k has rows[starts[k] .. starts[k + 1]), ascending; `starts` u32[keyCount + 1]. Absent numbers are left out; returns how many are not. */
    readonly joinLists: (numbers: Address, n: number, keyCount: number, starts: Address, rows: Address) => number;
    /** The only row of each key: rows[number], u32[keyCount], absent where no row has it. Returns 1; 0 when a key has several rows, what is in `rows` is undefined then. */
    readonly joinOnly: (numbers: Address, n: number, keyCount: number, rows: Address) => number;
    /** Pairs of the rows [start, end) as `joinPairs` gives them, of keys with one row at most; returns how many. `rows` is readable at 0; what lies in `out` behind the pairs is undefined. */
    readonly joinOnlyPairs: (numbers: Address, start: number, end: number, rows: Address, kind: number, outLeft: Address, outRight: Address) => number;
    /**
     * Pairs of a row of n and each row of its key's list, in order, at most `capacity`; returns how many. `kind` says what becomes of lists: 0 pairs; 1 pairs, and
     * (row, absent) for an empty list; 2 and 3 (row, absent) once for a list that is not empty, and that is empty. `cursor` u32[3], at first {0, 0, 1}: next row, place in
     * its list, and 1 as long as every row gave one pair exactly; pass it on until its row is n. `starts` and `rows` are readable one past their ends; what lies in `out`
     * behind the pairs is undefined.
     */
    readonly joinPairs: (numbers: Address, n: number, starts: Address, rows: Address, kind: number, cursor: Address, capacity: number, outLeft: Address, outRight: Address) => number;
    /** u8 marks[row] = 1 for rows that are not absent. */
    readonly joinMark: (rows: Address, n: number, marks: Address) => void;
    /** Bits of the gathered rows: absent, or set in `nulls` (bits, or 0); returns how many are set. */
    readonly joinNulls: (nulls: Address, rows: Address, n: number, out: Address) => number;
    /** Bit i of n is set where i + base - low is in [0, count) and that bit of `bits` is set, whose bits from `count` on are not; in 64 bits, wrapping. Any n. */
    readonly joinShift: (bits: Address, low: bigint, count: number, base: bigint, n: number, out: Address) => void;
    /** u8 out[i] = bit i. Any n. */
    readonly joinBytes: (bits: Address, n: number, out: Address) => void;
    /** Lists of the gathered rows, an absent one empty: offsets u32[n + 1] from 0 on; returns the last. */
    readonly joinOffsets: (offsets: Address, rows: Address, n: number, out: Address) => number;
  } &
  /** out[i] = value + base - low where that is in [0, count), else absent; in 64 bits, wrapping. */
  PerType<'joinRange', Id | 'I64', (values: Address, base: bigint, low: bigint, count: number, n: number, out: Address) => void> &
  /** Leaves those bits of `kept` set for which value + base - low is in [0, count) and that bit of `bits` is set; count is at least 1. Any n, from which on none is set. */
  PerType<'joinKeep', Id | 'I64', (values: Address, base: bigint, low: bigint, count: number, bits: Address, n: number, kept: Address) => void> &
  /** The same for values as they are stored, each of which has a bit, or a byte, 0 or 1. */
  PerType<'joinKeepBits' | 'joinKeepBytes', Id, (values: Address, table: Address, n: number, kept: Address) => void> &
  /** out[i] = values[rows[i]], 0 for an absent row. Of any type of that many bytes. */
  PerType<'joinValues', Id | 'I64', (values: Address, rows: Address, n: number, out: Address) => void> &
  /** The values of the lists of the gathered rows, one list after another. */
  PerType<'joinListValues', Id, (ids: Address, offsets: Address, rows: Address, n: number, out: Address) => void> &

  // ── ranges.ts: joins by ranges (range-contract.ts)
  RangeKernels &

  // ── top.ts: any number of groups ───────────────────────────────────────────────────────────────────────────────
  /**
   * Indices (u32) of the best k of n states where `present` (u8 per group, or 0) is not 0, best first; ties by lower
   * index. `descending` 1: largest first. NaN is above all numbers. Returns how many were written (<= k). k at most
   * 1,000,000; `out` has room for k, `heap` for k u32.
   */
  PerType<'top', 'I64' | 'F64', (state: Address, present: Address, n: number, k: number, descending: number, heap: Address, out: Address) => number>;

export type KernelName = keyof KernelSet;

/** Version that a kernel module exports, which tells it apart from any other module. */
export const KERNEL_CONTRACT_VERSION = 1;
