// Table of the traits of each kind of aggregate state.

import type { AggregateState, ExpressionFold } from './aggregate-state.js';
import type { ComplexType } from './schema.js';

/** Traits of a kind of state that all layers need; its computation is in `execution/aggregate-state/operations.ts`. */
export interface StateTraits<State extends AggregateState> {
  /** Type of columns that hold the states, as base64 (decision 11). */
  columnType(state: State): ComplexType;
  /** Those of these types that inline rows may be declared with; none: the states stay within a query. */
  readonly declared: readonly ComplexType[];
  /** Those of these types whose base64 a client may send, to `complex_decode_base64`. */
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

/** A kind of state without an entry, or an entry without a trait, does not compile. */
const STATE_TRAITS: { readonly [Type in AggregateState['type']]: StateTraits<Extract<AggregateState, { type: Type }>> } = {
  first: {
    ...pairs(),
    ofNoRows: null,
    distinct: 'nothing',
    window: 'sliding',
    finalizable: false,
    named: false,
    isRanked: no,
    // Any value is its own state.
    isValue: (_, columns) => columns.length === 1,
    mixedInput: 'nowhere',
  },
  last: {
    ...pairs(),
    ofNoRows: null,
    distinct: 'nothing',
    window: 'sliding',
    finalizable: false,
    named: false,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  min: {
    ...internal('extreme'),
    ofNoRows: null,
    distinct: 'nothing',
    window: 'none',
    finalizable: false,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  max: {
    ...internal('extreme'),
    ofNoRows: null,
    distinct: 'nothing',
    window: 'none',
    finalizable: false,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  timeMin: timeExtreme(),
  timeMax: timeExtreme(),
  moments: {
    columnType: ({ result }) => (result === 'mean' ? 'COMPLEX<doubleMean>' : 'COMPLEX<variance>'),
    declared: ['COMPLEX<doubleMean>', 'COMPLEX<variance>'],
    decoded: ['COMPLEX<variance>'],
    ofNoRows: null,
    distinct: 'numbers',
    window: 'sliding',
    finalizable: false,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  exactSum: {
    ...internal('exactSum'),
    ofNoRows: null,
    distinct: 'refused',
    window: 'none',
    finalizable: false,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  hll: {
    ...sketch('HLLSketch'),
    ofNoRows: 0,
    distinct: 'nothing',
    window: 'rows',
    finalizable: true,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  cardinality: {
    ...sketch('hyperUnique'),
    ofNoRows: 0,
    distinct: 'nothing',
    window: 'none',
    finalizable: true,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  theta: {
    ...sketch('thetaSketch'),
    ofNoRows: 0,
    distinct: 'nothing',
    window: 'rows',
    finalizable: true,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  quantiles: {
    ...sketch('quantilesDoublesSketch'),
    ofNoRows: 0,
    distinct: 'numbers',
    window: 'rows',
    finalizable: true,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'everywhere',
  },
  kll: {
    columnType: ({ valueType }) => (valueType === 'FLOAT' ? 'COMPLEX<KllFloatsSketch>' : 'COMPLEX<KllDoublesSketch>'),
    declared: ['COMPLEX<KllDoublesSketch>', 'COMPLEX<KllFloatsSketch>'],
    decoded: ['COMPLEX<KllDoublesSketch>', 'COMPLEX<KllFloatsSketch>'],
    ofNoRows: 0,
    distinct: 'numbers',
    window: 'rows',
    finalizable: true,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'everywhere',
  },
  tuple: {
    ...sketch('arrayOfDoublesSketch'),
    ofNoRows: 0,
    distinct: 'refused',
    window: 'none',
    finalizable: false,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  histogram: {
    ...sketch('approximateHistogram'),
    ofNoRows: null,
    distinct: 'numbers',
    window: 'rows',
    finalizable: false,
    named: true,
    isRanked: yes,
    isValue: no,
    mixedInput: 'merged',
  },
  fixedHistogram: {
    ...sketch('fixedBucketsHistogram'),
    ofNoRows: null,
    distinct: 'numbers',
    window: 'rows',
    finalizable: false,
    named: true,
    isRanked: yes,
    isValue: no,
    mixedInput: 'everywhere',
  },
  bloom: {
    ...sketch('bloom'),
    ofNoRows: null,
    distinct: 'nothing',
    window: 'none',
    finalizable: false,
    named: true,
    isRanked: yes,
    isValue: no,
    mixedInput: 'nowhere',
  },
  list: {
    ...internal('list'),
    ofNoRows: null,
    distinct: 'refused',
    window: 'rows',
    finalizable: false,
    named: true,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  },
  expression: {
    ...internal('expression'),
    ofNoRows: null,
    distinct: 'refused',
    window: 'rows',
    finalizable: false,
    named: true,
    isRanked: ({ compare }: ExpressionFold) => compare !== null,
    isValue: ({ finalize }: ExpressionFold) => finalize === null,
    mixedInput: 'nowhere',
  },
};

/** A time, of which the other columns of times are extremes too. */
function timeExtreme(): StateTraits<AggregateState> {
  return {
    columnType: () => 'COMPLEX<time>',
    declared: ['COMPLEX<time>'],
    decoded: [],
    ofNoRows: null,
    distinct: 'nothing',
    window: 'none',
    finalizable: false,
    named: false,
    isRanked: no,
    isValue: no,
    mixedInput: 'nowhere',
  };
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

/** A value beside its time. */
function pairs(): StoredAs<Extract<AggregateState, { type: 'first' | 'last' }>> {
  const names: Readonly<Record<string, string>> = { LONG: 'Long', DOUBLE: 'Double', FLOAT: 'Float' };
  const typeOf = (name = 'String'): ComplexType => `COMPLEX<serializablePairLong${name}>`;
  return {
    columnType: ({ valueType }) => typeOf(names[valueType]),
    declared: [typeOf(), ...Object.values(names).map(typeOf)],
    decoded: [],
  };
}

function no(): boolean {
  return false;
}

function yes(): boolean {
  return true;
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
