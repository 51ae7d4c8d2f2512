// Settings of a statement that binding depends on.

import type { EpochMs } from '../../../base/instant.js';
import type { RunLimits } from '../../../model/run-limits.js';
import type { SourceText } from '../parse/source-text.js';
import type { PlanWatch } from '../plan-watch.js';
import type { Bound } from '../relation/bound.js';

/** Settings of a statement that binding depends on, beside the tables. */
export interface Session {
  readonly source: SourceText;
  /** Value of the context key `sqlTimeZone`. */
  readonly timeZone: string;
  /** Tells the instant of CURRENT_TIMESTAMP. */
  readonly clock: { readonly now: EpochMs };
  /** Name of the datasource schema: `svc`, or the word that a client's paths begin with. */
  readonly schemaName: string;
  /** Values of the `?`, in order. */
  readonly parameters: readonly Bound[];
  /** Names of the rules that are not to be applied. */
  readonly rulesOff: ReadonlySet<string>;
  /** Limits that the statement runs under. */
  readonly limits: RunLimits;
  readonly watch: PlanWatch;
  /** Numbers for names that must differ within a statement. */
  readonly numbers: { next(): number };
}
