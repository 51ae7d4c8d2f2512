import type { Random } from './random.js';

export const KINDS = ['native', 'expressions', 'sql', 'orders'] as const;
export type Kind = (typeof KINDS)[number];

/** JSON as requests and answers hold it; an integer that a double cannot hold is a bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json };

export type Fields = { readonly [name: string]: Json };

/**
 * An expression over single values (`columns` are bound to them) or, without `columns`, over the columns of `nasty`.
 */
export interface ExpressionRequest {
  readonly expression: string;
  readonly columns?: readonly { readonly name: string; readonly type: string; readonly value: Json }[];
}

/** One request that both Dolmen and the original answer. `sql`: `{query, context}`; `native`: the query. */
export type DifferentialCase = CaseOf<'native' | 'sql', Fields> | CaseOf<'expressions', ExpressionRequest>;

interface CaseOf<K extends Kind, Request> {
  readonly kind: K;
  readonly request: Request;
  /** Query type, functions and filters of the case; differences are grouped by these. */
  readonly tags: readonly string[];
  /** `list`: rows in this order; `bag`: rows in any order. */
  readonly order: 'list' | 'bag';
  /** Smaller cases, the boldest first. One that is not a valid request does no harm. */
  shrink(): Iterable<DifferentialCase>;
}

export type Generator = (random: Random) => DifferentialCase;

/** Answer of one server. `broken`: the server failed with an internal error rather than refused; `unanswered`: it did not end in time. */
export type Answer = ({ readonly state: 'rows'; readonly rows: Json; readonly names?: Json; readonly types?: Json } | Failure) & {
  /** Who of several answered this. */
  readonly by?: string;
};

interface Failure {
  readonly state: 'refused' | 'broken' | 'unanswered';
  readonly message: string;
}

/** A case on which both do not agree. */
export interface Difference {
  readonly case: DifferentialCase;
  readonly dolmen: Answer;
  readonly original: Answer;
  /** Place of the first difference. */
  readonly where: string;
}

/** A difference that is meant. Each has a row of the same id in `docs/differences.md`. */
export type Mute = {
  readonly id: string;
} & (
  | { readonly covers: (difference: Difference) => boolean }
  /** Rows of either side without what may differ from the other side's. */
  | { readonly equate: (rows: Json, one: DifferentialCase, other: Json) => Json }
);
