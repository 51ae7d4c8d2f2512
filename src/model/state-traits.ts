// Table of the traits of each kind of aggregate state.

import type { AggregateState, ExpressionFold } from './aggregate-state.js';
import type { ComplexType } from './schema.js';

/** Traits of a kind of state that all layers need; its computation is in `execution/aggregate-state/operations.ts`. */
export interface StateTraits<State extends AggregateState> {
  /** Type of columns that hold the states, as base64 (decision 11). */
  columnType(state: State): ComplexType;
  /** Column types that inline rows may be declared with; none: the states stay within a query. */
  readonly declared: readonly ComplexType[];
  /** Column types whose base64 a client may send, to `complex_decode_base64`. */
  readonly decoded: readonly ComplexType[];
  /** Value of no rows: numbers of values are 0. */
  readonly ofNoRows: 0 | null;
  /** Effect of DISTINCT: nothing, since repeated values change nothing; each distinct number once; or refused. */
  readonly distinct: 'nothing' | 'numbers' | 'refused';
  /**
   * Aggregation over the frames of a window: refused (`none`); row by row, starting over when rows leave the frame (`rows`);
   * or `sliding`, which keeps one state for each row of the frame, for states that stay small.
   */
  readonly window: 'none' | 'rows' | 'sliding';
  /** Whether its native aggregators document `shouldFinalize`. */
  readonly finalizable: boolean;
  /** Whether post-aggregators may name the state of such an aggregator. */
  readonly named: boolean;
  /** Whether results are ordered by their states rather than by their values. */
  isRanked(state: State): boolean;
  /** Whether the value says all that the state says, so that no state is put out beside it. */
  isValue(state: State, columns: readonly string[]): boolean;
  /** Whether an ingested field may mix numbers and states: nowhere, everywhere, or `merged`: where the aggregator merges. */
  readonly mixedInput: 'nowhere' | 'merged' | 'everywhere';
}

const no = (): boolean => false;
const yes = (): boolean => true;

/** Traits of most kinds of state. */
const PLAIN = { finalizable: false, named: true, isRanked: no, isValue: no, mixedInput: 'nowhere' } as const;
const FINALIZABLE = { ...PLAIN, finalizable: true } as const;
const RANKED = { ...PLAIN, isRanked: yes } as const;
/** Traits of states that keep the distribution of numbers. */
const DISTRIBUTION = { ofNoRows: 0, distinct: 'numbers', window: 'rows', mixedInput: 'everywhere' } as const;

/** A kind of state without an entry, or an entry without a trait, does not compile. */
const STATE_TRAITS: { readonly [Type in AggregateState['type']]: StateTraits<Extract<AggregateState, { type: Type }>> } = {
  // Any value is its own state.
  first: { ...paired(), isValue: (_, columns) => columns.length === 1 },
  last: paired(),
  min: { ...internal('extreme'), ...PLAIN, ofNoRows: null, distinct: 'nothing', window: 'none' },
  max: { ...internal('extreme'), ...PLAIN, ofNoRows: null, distinct: 'nothing', window: 'none' },
  timeMin: timeExtreme(),
  timeMax: timeExtreme(),
  moments: {
    columnType: ({ result }) => (result === 'mean' ? 'COMPLEX<doubleMean>' : 'COMPLEX<variance>'),
    declared: ['COMPLEX<doubleMean>', 'COMPLEX<variance>'],
    decoded: ['COMPLEX<variance>'],
    ...PLAIN,
    ofNoRows: null,
    distinct: 'numbers',
    window: 'sliding',
  },
  exactSum: { ...internal('exactSum'), ...PLAIN, ofNoRows: null, distinct: 'refused', window: 'none' },
  hll: { ...sketch('HLLSketch'), ...FINALIZABLE, ofNoRows: 0, distinct: 'nothing', window: 'rows' },
  cardinality: { ...sketch('hyperUnique'), ...FINALIZABLE, ofNoRows: 0, distinct: 'nothing', window: 'none' },
  theta: { ...sketch('thetaSketch'), ...FINALIZABLE, ofNoRows: 0, distinct: 'nothing', window: 'rows' },
  quantiles: { ...sketch('quantilesDoublesSketch'), ...FINALIZABLE, ...DISTRIBUTION },
  kll: {
    columnType: ({ valueType }) => (valueType === 'FLOAT' ? 'COMPLEX<KllFloatsSketch>' : 'COMPLEX<KllDoublesSketch>'),
    declared: ['COMPLEX<KllDoublesSketch>', 'COMPLEX<KllFloatsSketch>'],
    decoded: ['COMPLEX<KllDoublesSketch>', 'COMPLEX<KllFloatsSketch>'],
    ...FINALIZABLE,
    ...DISTRIBUTION,
  },
  tuple: { ...sketch('arrayOfDoublesSketch'), ...PLAIN, ofNoRows: 0, distinct: 'refused', window: 'none' },
  histogram: { ...sketch('approximateHistogram'), ...RANKED, ...DISTRIBUTION, ofNoRows: null, mixedInput: 'merged' },
  fixedHistogram: { ...sketch('fixedBucketsHistogram'), ...RANKED, ...DISTRIBUTION, ofNoRows: null },
  breaksHistogram: { ...internal('histogram'), ...RANKED, ...DISTRIBUTION, ofNoRows: null, mixedInput: 'nowhere' },
  single: { ...internal('singleValue'), ...PLAIN, ofNoRows: null, distinct: 'refused', window: 'none', named: false, isValue: yes },
  bloom: { ...sketch('bloom'), ...RANKED, ofNoRows: null, distinct: 'nothing', window: 'none' },
  list: { ...internal('list'), ...PLAIN, ofNoRows: null, distinct: 'refused', window: 'rows' },
  expression: {
    ...internal('expression'),
    ...PLAIN,
    ofNoRows: null,
    distinct: 'refused',
    window: 'rows',
    isRanked: ({ compare }: ExpressionFold) => compare !== null,
    isValue: ({ finalize }: ExpressionFold) => finalize === null,
  },
};

/** A time, of which the other columns of times are extremes too. */
function timeExtreme(): StateTraits<AggregateState> {
  const stored: StoredAs<AggregateState> = { columnType: () => 'COMPLEX<time>', declared: ['COMPLEX<time>'], decoded: [] };
  return { ...stored, ...PLAIN, ofNoRows: null, distinct: 'nothing', window: 'none', named: false };
}

/** A value beside its time. */
function paired(): StateTraits<Extract<AggregateState, { type: 'first' | 'last' }>> {
  return { ...pairs(), ...PLAIN, ofNoRows: null, distinct: 'nothing', window: 'sliding', named: false };
}

type StoredAs<State extends AggregateState> = Pick<StateTraits<State>, 'columnType' | 'declared' | 'decoded'>;

/** A sketch of one type, with bytes that clients know. */
function sketch(name: string): StoredAs<AggregateState> {
  const type: ComplexType = `COMPLEX<${name}>`;
  return { columnType: () => type, declared: [type], decoded: [type] };
}

/** States that stay within a query: no column is declared with them. */
function internal(name: string): StoredAs<AggregateState> {
  return { columnType: () => `COMPLEX<${name}>`, declared: [], decoded: [] };
}

/** Pairs of a value and its time. */
function pairs(): StoredAs<Extract<AggregateState, { type: 'first' | 'last' }>> {
  const names: Readonly<Record<string, string>> = { LONG: 'Long', DOUBLE: 'Double', FLOAT: 'Float' };
  const typeOf = (name = 'String'): ComplexType => `COMPLEX<serializablePairLong${name}>`;
  return {
    columnType: ({ valueType }) => typeOf(names[valueType]),
    declared: [typeOf(), ...Object.values(names).map(typeOf)],
    decoded: [],
  };
}

export function stateTraits({ type }: Pick<AggregateState, 'type'>): StateTraits<AggregateState> {
  return STATE_TRAITS[type];
}

/** Type of columns that hold states of this kind. */
export function stateType(state: AggregateState): ComplexType {
  return stateTraits(state).columnType(state);
}

const DECLARED: ReadonlySet<unknown> = new Set(Object.values(STATE_TRAITS).flatMap(({ declared }) => declared));

/** Whether a column may be declared with this type, as one of states. */
export function isStateType(type: unknown): type is ComplexType {
  return DECLARED.has(type);
}

/** Types of states that may be sent as base64. */
export const DECODED_TYPES: readonly ComplexType[] = Object.values(STATE_TRAITS).flatMap(({ decoded }) => decoded);
