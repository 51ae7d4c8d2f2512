// The compaction configurations in the metadata store, with their history.

import { ServiceError } from '../../base/errors.js';
import { isRecord, parseJson, stringifyJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { Queries } from '../../metadata/database.js';
import { fencedTransaction } from '../../metadata/leadership.js';
import { type AuditSelection, type Author, audit, auditHistory, findConfig, writeConfig } from '../../metadata/settings.js';
import { CLUSTER_DEFAULTS, type ClusterCompactionConfig, parseClusterConfig } from './cluster-config.js';
import { type CompactionConfig, parseCompactionConfig, taskPayload } from './compaction-config.js';
import { CompactionSupervisors, type CompactionSupervisorsOptions } from './compaction-supervisors.js';

/** Name under which they are stored, and their changes audited. */
const CONFIG_NAME = 'coordinator.compaction.config';

/** All configurations; those of datasources by name. */
export interface CompactionSettings {
  readonly cluster: ClusterCompactionConfig;
  readonly dataSources: ReadonlyMap<string, CompactionConfig>;
}

/** An entry of the history of a datasource; null: its configuration was removed. */
export interface CompactionChange {
  readonly globalConfig: unknown;
  readonly compactionConfig: unknown;
  readonly auditInfo: Author;
  readonly timeMs: number;
}

export type CompactionConfigsOptions = Omit<CompactionSupervisorsOptions, 'cluster'>;

const NOTHING_CONFIGURED: CompactionSettings = { cluster: CLUSTER_DEFAULTS, dataSources: new Map() };

/**
 * Reads and changes configurations, at the Coordinator and at the Overlord: each change reads what is stored and writes it
 * back in one transaction that holds the write lock, so that none is lost.
 */
export class CompactionConfigs {
  readonly supervisors: CompactionSupervisors;
  readonly #options: CompactionConfigsOptions;

  constructor(options: CompactionConfigsOptions) {
    this.#options = options;
    this.supervisors = new CompactionSupervisors({ ...options, cluster: async () => (await this.all()).cluster });
  }

  /** Settings that the duty keeps to: a datasource with a supervisor has that one's configuration, and none while it is suspended. */
  async inEffect(): Promise<CompactionSettings> {
    const { cluster, dataSources } = await this.all();
    const configs = new Map(dataSources);
    for (const { suspended, config } of await this.supervisors.list())
      if (suspended) configs.delete(config.dataSource);
      else configs.set(config.dataSource, config);
    return { cluster, dataSources: configs };
  }

  async all(): Promise<CompactionSettings> {
    return (await this.#stored(this.#options.database)) ?? NOTHING_CONFIGURED;
  }

  /** The stored settings; undefined where they cannot be read, which is a fault of the metadata. */
  async #stored(queries: Queries): Promise<CompactionSettings | undefined> {
    const text = await findConfig(queries, CONFIG_NAME);
    if (text === undefined) return NOTHING_CONFIGURED;
    return queries.faults.read({ table: 'config', column: 'payload', key: CONFIG_NAME }, text, parseSettings, parseJson);
  }

  /** @throws ServiceError `not_found` */
  async get(dataSource: string): Promise<CompactionConfig> {
    const config = (await this.all()).dataSources.get(dataSource);
    if (config === undefined) throw noConfig(dataSource);
    return config;
  }

  /** @throws ServiceError `input_invalid` or `unsupported` for what could not be kept to */
  async set(fields: ObjectReader, author: Author): Promise<void> {
    const config = parseCompactionConfig(fields);
    const { cluster } = await this.all();
    await this.#check(config, cluster);
    await this.#change(author, [config.dataSource], (settings) => ({
      ...settings,
      dataSources: new Map([...settings.dataSources, [config.dataSource, config]]),
    }));
  }

  /** @throws ServiceError `not_found` */
  async remove(dataSource: string, author: Author): Promise<void> {
    await this.#change(author, [dataSource], (settings) => {
      if (!settings.dataSources.has(dataSource)) throw noConfig(dataSource);
      return { ...settings, dataSources: new Map([...settings.dataSources].filter(([name]) => name !== dataSource)) };
    });
  }

  /** @param change  gives the new configuration of the cluster */
  async changeCluster(change: (current: ClusterCompactionConfig) => ClusterCompactionConfig, author: Author): Promise<void> {
    const { cluster, dataSources } = await this.inEffect();
    const wanted = change(cluster);
    // Another engine may refuse what this one compacts.
    if (wanted.engine !== cluster.engine) for (const config of dataSources.values()) await this.#check(config, wanted);
    await this.#change(author, null, (settings) => ({ ...settings, cluster: change(settings.cluster) }));
  }

  /** Changes of a datasource and of the cluster while it was configured, newest first. */
  async history(dataSource: string, selection: Pick<AuditSelection, 'interval' | 'count'>): Promise<readonly CompactionChange[]> {
    const entries = await auditHistory(this.#options.database, { type: CONFIG_NAME, key: dataSource, ...selection });
    return entries.map(({ payload, auditInfo, timeMs }) => {
      const change = parseJson(payload);
      const { globalConfig, compactionConfig } = isRecord(change) ? change : {};
      return { globalConfig, compactionConfig, auditInfo, timeMs };
    });
  }

  /** Whether it has, or ever had, a configuration. */
  async wasConfigured(dataSource: string): Promise<boolean> {
    return (await auditHistory(this.#options.database, { type: CONFIG_NAME, key: dataSource, interval: null, count: 1 })).length > 0;
  }

  async #check(config: CompactionConfig, cluster: ClusterCompactionConfig): Promise<void> {
    await this.#options.readTask(taskPayload(config, cluster.engine, null));
  }

  /** @param concerned  datasources whose history tells of it; null: all that are configured */
  async #change(
    author: Author,
    concerned: readonly string[] | null,
    alter: (settings: CompactionSettings) => CompactionSettings,
  ): Promise<void> {
    const { database, fence, now, changed } = this.#options;
    await fencedTransaction(database, fence(), async (queries) => {
      const stored = await this.#stored(queries);
      // To write over it would lose what somebody may still mend.
      if (stored === undefined)
        throw new ServiceError(
          'conflict',
          'the stored compaction configuration cannot be read, so it is not changed; see /svc/coordinator/v1/metadataFaults',
        );
      const { cluster, dataSources } = alter(stored);
      await writeConfig(queries, CONFIG_NAME, stringifyJson({ cluster, dataSources: [...dataSources.values()] }));
      for (const dataSource of concerned ?? dataSources.keys()) {
        const change = { globalConfig: cluster, compactionConfig: dataSources.get(dataSource) ?? null };
        const before = { globalConfig: stored.cluster, compactionConfig: stored.dataSources.get(dataSource) ?? null };
        await audit(queries, { type: CONFIG_NAME, key: dataSource, previous: stringifyJson(before) }, author, stringifyJson(change), now());
      }
    });
    changed();
  }
}

function noConfig(dataSource: string): ServiceError {
  return new ServiceError('not_found', `datasource ${dataSource} has no compaction configuration`);
}

/** A stored document. */
function parseSettings(value: unknown): CompactionSettings {
  const fields = new ObjectReader(value, '', readContextOf('input_invalid', 'the stored compaction configuration', true));
  const configs = fields.objects('dataSources').map(parseCompactionConfig);
  return {
    cluster: parseClusterConfig(fields.object('cluster')),
    dataSources: new Map(configs.map((config) => [config.dataSource, config])),
  };
}
