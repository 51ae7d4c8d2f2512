// Settings that people change at the Coordinator: rules, dynamic configuration, lookups; audited.

import { createHash } from 'node:crypto';
import { stringifyJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import type { Database, Queries } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import {
  type AuditEntry,
  type AuditSelection,
  type Author,
  audit,
  auditHistory,
  changeConfig,
  findRules,
  readConfig,
  writeRules,
} from '../../metadata/settings.js';
import type { LookupSnapshot } from '../rpc/services.js';
import { DYNAMIC_CONFIG_NAME, type DynamicConfig, mergeDynamicConfig, parseDynamicConfig } from './dynamic-config.js';
import { LOOKUPS_NAME, type Lookups, parseLookups } from './lookups.js';
import { Retention } from './retention.js';
import { parseRules } from './rules.js';

export interface CoordinatorSettingsOptions {
  readonly database: Database;
  /** Fence of the leader. */
  readonly fence: () => Fence;
  readonly now: () => number;
}

/** Settings that people change at the Coordinator: rules, dynamic configuration and lookups. Every change is audited. */
export class CoordinatorSettings {
  readonly #options: CoordinatorSettingsOptions;

  constructor(options: CoordinatorSettingsOptions) {
    this.#options = options;
  }

  retention(): Promise<Retention> {
    return Retention.read(this.#options.database);
  }

  async writeRules(dataSource: string, rules: unknown, author: Author): Promise<void> {
    const payload = JSON.stringify(parseRules(rules));
    await this.#change(async (queries) => {
      const previous = await findRules(queries, dataSource);
      await writeRules(queries, dataSource, payload, this.#options.now());
      await audit(queries, { type: 'rules', key: dataSource, previous }, author, payload, this.#options.now());
    });
  }

  dynamicConfig(queries: Queries = this.#options.database): Promise<DynamicConfig> {
    return readConfig(queries, DYNAMIC_CONFIG_NAME, parseDynamicConfig).then((config) => config ?? parseDynamicConfig({}));
  }

  async changeDynamicConfig(changes: ReadonlyMap<string, unknown>, author: Author): Promise<void> {
    await this.#change(async (queries) => {
      const payload = JSON.stringify(mergeDynamicConfig(await this.dynamicConfig(queries), changes));
      await changeConfig(queries, DYNAMIC_CONFIG_NAME, payload, author, this.#options.now());
    });
  }

  lookups(queries: Queries = this.#options.database): Promise<Lookups> {
    return readConfig(queries, LOOKUPS_NAME, parseLookups).then((lookups) => lookups ?? {});
  }

  /** Lookups of a tier; their generation is another one when they are others. */
  async lookupsOf(tier: string): Promise<LookupSnapshot> {
    const lookups = own(await this.lookups(), tier) ?? {};
    return { generation: createHash('sha256').update(stringifyJson(lookups)).digest('base64'), lookups };
  }

  async changeLookups(alter: (current: Lookups) => Lookups, author: Author): Promise<void> {
    await this.#change(async (queries) => {
      const payload = stringifyJson(alter(await this.lookups(queries)));
      await changeConfig(queries, LOOKUPS_NAME, payload, author, this.#options.now());
    });
  }

  history(selection: AuditSelection): Promise<readonly AuditEntry[]> {
    return auditHistory(this.#options.database, selection);
  }

  #change(work: (queries: Queries) => Promise<void>): Promise<void> {
    return fencedTransaction(this.#options.database, this.#options.fence(), work);
  }
}
