// Prints instants by kernels, where a pattern gives strings of one length.

import type { Zone } from '../../../base/calendar.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { finestUnitMs } from '../../../base/time-pattern.js';
import { constantOf } from '../../../expression/expression-type.js';
import type { Constant } from '../../../expression/function.js';
import { patternOfArguments } from '../../../expression/functions/time.js';
import { getFunction } from '../../../expression/functions.js';
import { toText } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';
import { type Block, wordsOf } from '../../block/context.js';
import { layTexts } from '../../block/text-references.js';
import { nullTest } from '../time/range.js';
import { longsOf, stepped, toLocal, YEAR_2500 } from '../time/steps.js';
import type { NumberVector, TextNode } from '../vector.js';
import { clockTemplate } from './clock-template.js';
import { Room, type TextWork } from './text-node.js';

type Call = Extract<Expression, { kind: 'call' }>;

/** Pattern of ISO 8601, as UTC is printed without one. */
const ISO = "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'";

/**
 * `timestamp_format` of LONG instants with constants for its pattern and zone; undefined for patterns without such a kernel, and where it
 * is the whole expression and buckets of time are so few that each is printed once.
 */
export function timeTexts(
  work: TextWork,
  { function: name, arguments: [instant, ...others] }: Call,
  isWhole: boolean,
  instantsOf: (expression: Expression) => NumberVector | undefined,
): TextNode | undefined {
  const constants = others.map(constantOf);
  if (instant === undefined || constants.includes(undefined)) return undefined;
  const { pattern, zone } = patternOfArguments([undefined, ...constants]);
  if (pattern === undefined && zone.fixedOffsetMs !== 0) return undefined;
  const template = clockTemplate(pattern ?? ISO, { code: 'query_invalid' });
  const instants = template === undefined ? undefined : instantsOf(instant);
  if (template === undefined || instants === undefined) return undefined;
  if (isWhole && hasFewBuckets(work, instants, finestUnitMs(pattern ?? ISO, { code: 'query_invalid' }))) return undefined;
  const { scope } = work;
  const { kernels, memory } = scope.context;
  const text = Buffer.from(template.text);
  const [templateAt, fields] = [work.upload(text), scope.arena.take(Math.max(1, template.fields.length) * 4)];
  memory.u16(fields, template.fields.length * 2).set(template.fields.flatMap(({ unit, offset }) => [unit, offset]));
  const room = new Room(work);
  const local = wallClock(work, instants, zone);
  const further = new OtherTimes(work, instants, printer(name, constants));
  return work.node({ mayBeNull: true, isBmp: true }, (block, out) => {
    const nulls = instants.nulls(block);
    const buffer = room.of(block.rows * text.length);
    const left = kernels.textOfTimes(local(block), nulls, block.rows, templateAt, text.length, fields, template.fields.length, out, buffer);
    if (left > 0) further.print(block, nulls, out);
  });
}

/** Whether a table of buckets is less work than printing each row. */
function hasFewBuckets({ scope }: TextWork, { stored }: NumberVector, unitMs: number): boolean {
  if (unitMs === 1 || stored === undefined || typeof stored.min !== 'bigint' || typeof stored.max !== 'bigint') return false;
  return Number(stored.max - stored.min) / unitMs < scope.view.rowCount / 2;
}

function wallClock({ scope }: TextWork, instants: NumberVector, zone: Zone): (block: Block) => Address {
  if (zone.fixedOffsetMs === 0) return longsOf(scope, instants);
  const offsetAt = (instant: number): number => (Number.isSafeInteger(instant) ? zone.offsetAt(instant) : 0);
  const each = (instant: bigint): bigint => BigInt.asIntN(64, instant + BigInt(offsetAt(Number(instant))));
  return longsOf(scope, stepped(scope, instants, { steps: toLocal(scope, zone), latest: YEAR_2500, each }));
}

function printer(name: string, constants: readonly (Constant | undefined)[]): (instant: bigint) => string | null {
  const compute = getFunction(name, constants.length + 1).bind([undefined, ...constants]);
  const others = constants.map((constant) => constant?.value ?? null);
  return (instant) => toText(compute([instant, ...others]));
}

/** Instants beyond the years of four digits, which are printed one by one. */
class OtherTimes {
  readonly #work: TextWork;
  readonly #nulls: Address;
  readonly #longs: (block: Block) => Address;
  readonly #print: (instant: bigint) => string | null;

  constructor(work: TextWork, instants: NumberVector, print: (instant: bigint) => string | null) {
    this.#work = work;
    this.#nulls = work.bits();
    this.#longs = longsOf(work.scope, instants);
    this.#print = print;
  }

  /** Writes references in place of the nulls at `out` that are not of null instants. */
  print(block: Block, nulls: Address, out: Address): void {
    const { arena, context } = this.#work.scope;
    const { kernels, memory } = context;
    kernels.textNulls(out, block.rows, this.#nulls);
    if (nulls !== 0) kernels.bitsAndNot(this.#nulls, nulls, wordsOf(block), this.#nulls);
    const isLeft = nullTest(this.#work.scope, this.#nulls, block.rows);
    const values = memory.i64(this.#longs(block), block.rows);
    const rows: number[] = [];
    for (let row = 0; row < block.rows; row++) if (isLeft(row)) rows.push(row);
    context.check();
    context.computed.valuesByRow += rows.length;
    const made = layTexts(
      memory,
      arena,
      rows.map((row) => this.#print(values[row] ?? 0n)),
    );
    const [from, to] = [memory.i64(made, rows.length), memory.i64(out, BLOCK_ROWS)];
    rows.forEach((row, index) => {
      to[row] = from[index] ?? 0n;
    });
  }
}
