// Retention rules of all datasources, and their effect on segments.

import type { EpochMs } from '../../base/instant.js';
import { own } from '../../base/names.js';
import type { Queries } from '../../metadata/database.js';
import { allRules } from '../../metadata/settings.js';
import type { SegmentDescriptor, SegmentId, UnreadableSegment } from '../../model/segment.js';
import { DEFAULT_RULES, DEFAULT_RULES_NAME, type Decision, decide, parseRules, type Rule } from './rules.js';

/** The retention rules of the cluster as one picture. */
export class Retention {
  readonly #rules: ReadonlyMap<string, readonly Rule[]>;
  /** Rules followed by the defaults, by datasource, once they were asked for. */
  readonly #whole = new Map<string, readonly Rule[]>();

  private constructor(rules: ReadonlyMap<string, readonly Rule[]>) {
    this.#rules = rules;
  }

  static async read(queries: Queries): Promise<Retention> {
    const stored = await allRules(queries, parseRules);
    // Rules that cannot be read may have kept segments: nothing is dropped for them.
    return new Retention(new Map([...stored].map(([dataSource, rules]) => [dataSource, rules ?? DEFAULT_RULES])));
  }

  /** Datasources of which the rules are others than in another picture; null: the default rules are, which go for all. */
  changedSince(other: Retention): readonly string[] | null {
    const names = new Set([...this.#rules.keys(), ...other.#rules.keys()]);
    const changed = [...names].filter((name) => JSON.stringify(this.#rules.get(name)) !== JSON.stringify(other.#rules.get(name)));
    return changed.includes(DEFAULT_RULES_NAME) ? null : changed;
  }

  /** Whether some rule wants segments on every server, and so hangs on which tiers there are. */
  get hasBroadcasts(): boolean {
    return [...this.#rules.values()].some((rules) => rules.some(({ type }) => type.startsWith('broadcast')));
  }

  /** Whether the rules of a datasource may decide otherwise on the same segment because time goes on. */
  hangsOnTime(dataSource: string): boolean {
    for (const { type } of this.withDefaults(dataSource)) {
      if (type.endsWith('Forever')) return false;
      if (type.endsWith('ByPeriod')) return true;
    }
    return false;
  }

  /** Stored ones by datasource, and the default rules, stored or built in. */
  all(): Readonly<Record<string, readonly Rule[]>> {
    return { [DEFAULT_RULES_NAME]: DEFAULT_RULES, ...Object.fromEntries(this.#rules) };
  }

  /** Rules of a datasource without the defaults. */
  of(dataSource: string): readonly Rule[] {
    return own(this.all(), dataSource) ?? [];
  }

  /** Rules of a datasource followed by the defaults; for the defaults themselves, only they. */
  withDefaults(dataSource: string): readonly Rule[] {
    const known = this.#whole.get(dataSource);
    if (known !== undefined) return known;
    const defaults = this.of(DEFAULT_RULES_NAME);
    const whole = dataSource === DEFAULT_RULES_NAME ? defaults : [...this.of(dataSource), ...defaults];
    this.#whole.set(dataSource, whole);
    return whole;
  }

  decide(segment: SegmentDescriptor, nowMs: EpochMs): Decision {
    return this.#decide(segment.id, nowMs);
  }

  /** Whether a segment of which that much is known may be one that is not dropped. */
  mayKeep({ dataSource, interval }: UnreadableSegment, nowMs: EpochMs): boolean {
    return interval === null || this.#decide({ dataSource, interval }, nowMs).kind !== 'drop';
  }

  #decide({ dataSource, interval }: Pick<SegmentId, 'dataSource' | 'interval'>, nowMs: EpochMs): Decision {
    return decide(this.withDefaults(dataSource), interval, nowMs);
  }
}
