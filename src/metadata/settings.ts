// Configuration entries and their audit trail.

import type { EpochMs, Interval } from '../base/instant.js';
import { type Binding, isAmong, type Queries } from './database.js';

/** Author and reason of a change, from `X-Svc-Author` and `X-Svc-Comment`. */
export interface Author {
  /** The user whose request it was; absent without security. */
  readonly identity?: string;
  readonly author: string;
  readonly comment: string;
  readonly ip: string;
}

export interface AuditEntry {
  readonly key: string;
  readonly type: string;
  readonly auditInfo: Author;
  /** JSON text. */
  readonly payload: string;
  /** The document before the change, JSON text; null where there was none, or nobody knows. */
  readonly previous: string | null;
  readonly timeMs: EpochMs;
}

/** Subject of an audited change, such as `{type: 'rules', key: 'wikipedia'}`. */
export interface AuditSubject {
  readonly type: string;
  readonly key: string;
  /** The document before the change, JSON text. */
  readonly previous?: string | undefined;
}

/** A stored document (dynamic configuration, lookups, compaction) as JSON text; undefined when never written. */
export async function findConfig(queries: Queries, name: string): Promise<string | undefined> {
  const rows = await queries.rows<{ payload: string }>('SELECT payload FROM config WHERE name = ?', [name]);
  return rows[0]?.payload;
}

/** A stored document; undefined when it was never written, or was set aside because it cannot be read. */
export async function readConfig<Value>(queries: Queries, name: string, parse: (value: unknown) => Value): Promise<Value | undefined> {
  const text = await findConfig(queries, name);
  return text === undefined ? undefined : queries.faults.read({ table: 'config', column: 'payload', key: name }, text, parse);
}

export async function writeConfig(queries: Queries, name: string, payload: string): Promise<void> {
  await queries.rows('INSERT INTO config (name, payload) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET payload = excluded.payload', [
    name,
    payload,
  ]);
}

/** Writes a document that is made once and then stays, whichever process comes first; returns what is stored. */
export async function writeConfigOnce(queries: Queries, name: string, payload: string): Promise<string> {
  await queries.rows('INSERT INTO config (name, payload) VALUES (?, ?) ON CONFLICT (name) DO NOTHING', [name, payload]);
  return (await findConfig(queries, name)) ?? payload;
}

/** Rules by datasource; undefined for those that cannot be read and are set aside. */
export async function allRules<Rules>(queries: Queries, parse: (value: unknown) => Rules): Promise<ReadonlyMap<string, Rules | undefined>> {
  const rows = await queries.rows<{ data_source: string; payload: string }>('SELECT data_source, payload FROM rules ORDER BY data_source');
  return new Map(
    rows.map((row) => [
      row.data_source,
      queries.faults.read({ table: 'rules', column: 'payload', key: row.data_source }, row.payload, parse),
    ]),
  );
}

/** The stored rules of a datasource, JSON text; undefined when there are none. */
export async function findRules(queries: Queries, dataSource: string): Promise<string | undefined> {
  const rows = await queries.rows<{ payload: string }>('SELECT payload FROM rules WHERE data_source = ?', [dataSource]);
  return rows[0]?.payload;
}

export async function writeRules(queries: Queries, dataSource: string, payload: string, nowMs: EpochMs): Promise<void> {
  await queries.rows(
    `INSERT INTO rules (data_source, payload, changed_ms) VALUES (?, ?, ?)
     ON CONFLICT (data_source) DO UPDATE SET payload = excluded.payload, changed_ms = excluded.changed_ms`,
    [dataSource, payload, nowMs],
  );
}

/** Files a change; to be called in the transaction that makes it. */
export async function audit(queries: Queries, subject: AuditSubject, author: Author, payload: string, nowMs: EpochMs): Promise<void> {
  await queries.rows(
    'INSERT INTO audit (type, audit_key, author, identity, comment, ip, payload, previous, time_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    [subject.type, subject.key, author.author, author.identity ?? '', author.comment, author.ip, payload, subject.previous ?? null, nowMs],
  );
}

/** Writes a stored document of the key `name` and files the change; to be called in the transaction that makes it. */
export async function changeConfig(queries: Queries, name: string, payload: string, author: Author, nowMs: EpochMs): Promise<void> {
  const previous = await findConfig(queries, name);
  await writeConfig(queries, name, payload);
  await audit(queries, { type: name, key: name, previous }, author, payload, nowMs);
}

export interface AuditSelection {
  readonly type: string;
  /** null: of every key. */
  readonly key: string | null;
  /** Any of these; absent: of every key. */
  readonly keys?: readonly string[];
  readonly interval: Interval | null;
  readonly count: number | null;
}

interface AuditRow {
  readonly audit_key: string;
  readonly author: string;
  readonly identity: string;
  readonly comment: string;
  readonly ip: string;
  readonly payload: string;
  readonly previous: string | null;
  readonly time_ms: number;
}

/** Keys that changes of a type were made under. */
export async function auditKeys(queries: Queries, type: string): Promise<readonly string[]> {
  const rows = await queries.rows<{ audit_key: string }>('SELECT DISTINCT audit_key FROM audit WHERE type = ?', [type]);
  return rows.map(({ audit_key }) => audit_key);
}

/** Newest first. */
export async function auditHistory(queries: Queries, selection: AuditSelection): Promise<readonly AuditEntry[]> {
  const conditions = ['type = ?'];
  const bindings: Binding[] = [selection.type];
  if (selection.key !== null) {
    conditions.push('audit_key = ?');
    bindings.push(selection.key);
  }
  if (selection.keys !== undefined) {
    const { condition, binding } = isAmong('audit_key', selection.keys);
    conditions.push(condition);
    bindings.push(binding);
  }
  if (selection.interval !== null) {
    conditions.push('time_ms >= ? AND time_ms < ?');
    bindings.push(selection.interval.start, selection.interval.end);
  }
  const limit = selection.count === null ? '' : 'LIMIT ?';
  if (selection.count !== null) bindings.push(selection.count);
  const rows = await queries.rows<AuditRow>(
    `SELECT audit_key, author, identity, comment, ip, payload, previous, time_ms FROM audit WHERE ${conditions.join(' AND ')} ORDER BY sequence DESC ${limit}`,
    bindings,
  );
  return rows.map(({ audit_key, author, identity, comment, ip, payload, previous, time_ms }) => ({
    key: audit_key,
    type: selection.type,
    auditInfo: { author, ...(identity === '' ? {} : { identity }), comment, ip },
    payload,
    previous,
    timeMs: time_ms,
  }));
}
