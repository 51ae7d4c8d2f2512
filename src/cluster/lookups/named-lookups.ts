// Plans for other processes that name the states of lookups, whose entries these may hold themselves.

import { BoundedCache } from '../../base/bounded-cache.js';
import type { CancelSignal } from '../../base/cancel-signal.js';
import { type Clock, SYSTEM_CLOCK } from '../../base/clock/clock.js';
import type { Frame } from '../../model/frame.js';
import type { LookupTable } from '../../model/lookup/lookup-table.js';
import type { Plan } from '../../model/plan.js';
import { rewriteData } from '../../model/rewrite/rewrite-data.js';
import type { HistoricalService, LackReport, RunPlanRequest, RunReport } from '../rpc/services.js';

/** Fewer bytes go along with a plan at once. */
const NAMED_BYTES_MIN = 4096;
/** A server that lacks a state gets its entries for so long; then it is asked again whether it has it. */
const LACKING_MS = 10_000;
const LACKING_COUNT = 1024;
const NO_BYTES = new Uint8Array(0);

/** Plain data with other tables in the place of those of lookups. */
function withTables<Data extends object>(data: Data, change: (table: LookupTable) => LookupTable): Data {
  return rewriteData(data, (object) => {
    const { kind, value } = object as { readonly kind?: unknown; readonly value?: unknown };
    if (kind !== 'literal' || typeof value !== 'object' || value === null || !('packed' in value)) return object;
    const table = value as LookupTable;
    const changed = change(table);
    return changed === table ? object : { ...object, value: changed };
  });
}

/** Plans whose lookups are named, as a server gets them that may hold the same entries. */
export class NamedLookups {
  readonly #clock: Clock;
  /** Times until which servers lack states, by both. */
  readonly #lacking = new BoundedCache<string, number>(LACKING_COUNT);

  constructor(clock: Clock = SYSTEM_CLOCK) {
    this.#clock = clock;
  }

  /** A run on a Historical of another process, which gets the entries that it does not hold itself. */
  run(
    host: string,
    historical: Pick<HistoricalService, 'runPlan' | 'runNamed'>,
    request: RunPlanRequest,
    signal: CancelSignal,
  ): AsyncIterable<Frame | RunReport> {
    const named = new Set<string>();
    const plan = withTables<Plan>(request.plan, (table) => {
      const isLacking = (this.#lacking.find(keyOf(host, table.digest)) ?? 0) > this.#clock.now();
      if (isLacking || table.packed.length < NAMED_BYTES_MIN) return table;
      named.add(table.digest);
      return { ...table, packed: NO_BYTES };
    });
    return named.size === 0 ? historical.runPlan(request, signal) : this.#runNamed(host, historical, { ...request, plan }, request, signal);
  }

  async *#runNamed(
    host: string,
    historical: Pick<HistoricalService, 'runPlan' | 'runNamed'>,
    named: RunPlanRequest,
    whole: RunPlanRequest,
    signal: CancelSignal,
  ): AsyncGenerator<Frame | RunReport> {
    let isLacking = false;
    for await (const item of historical.runNamed(named, signal)) {
      if (!('lacks' in item)) {
        yield item;
        continue;
      }
      isLacking = true;
      for (const digest of item.lacks) this.#lacking.keep(keyOf(host, digest), this.#clock.now() + LACKING_MS);
    }
    if (isLacking) yield* historical.runPlan(whole, signal);
  }
}

function keyOf(host: string, digest: string): string {
  return JSON.stringify([host, digest]);
}

/** The request with the entries of this process, or a report of those that it lacks. */
export function withOwnLookups(request: RunPlanRequest, tableOf: (digest: string) => LookupTable | undefined): RunPlanRequest | LackReport {
  const lacks = new Set<string>();
  const plan = withTables<Plan>(request.plan, (table) => {
    if (table.packed.length > 0) return table;
    const own = tableOf(table.digest);
    if (own === undefined) lacks.add(table.digest);
    return own ?? table;
  });
  return lacks.size > 0 ? { lacks: [...lacks] } : { ...request, plan };
}
