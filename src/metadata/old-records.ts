// Removes records that are too old, a number of them at a time.

import type { EpochMs } from '../base/instant.js';
import type { Queries } from './database.js';

/** Removes entries of the audit history from before an instant; returns how many. */
export async function removeOldAudit(queries: Queries, beforeMs: EpochMs, countMax: number): Promise<number> {
  const rows = await queries.rows(
    'DELETE FROM audit WHERE sequence IN (SELECT sequence FROM audit WHERE time_ms < ? ORDER BY sequence LIMIT ?) RETURNING sequence',
    [beforeMs, countMax],
  );
  return rows.length;
}

/** Removes rules that were last changed before an instant, of datasources without any segment; returns their names. */
export async function removeOldRules(
  queries: Queries,
  { beforeMs, except, countMax }: { readonly beforeMs: EpochMs; readonly except: string; readonly countMax: number },
): Promise<readonly string[]> {
  const rows = await queries.rows<{ data_source: string }>(
    `DELETE FROM rules WHERE data_source IN (
       SELECT data_source FROM rules WHERE changed_ms < ? AND data_source <> ?
         AND NOT EXISTS (SELECT 1 FROM segments WHERE used IN (0, 1) AND segments.data_source = rules.data_source)
       ORDER BY data_source LIMIT ?)
     RETURNING data_source`,
    [beforeMs, except, countMax],
  );
  return rows.map(({ data_source }) => data_source);
}

/** Removes finished tasks that were made before an instant, but none whose parent or child still runs; returns how many. */
export async function removeOldTasks(queries: Queries, beforeMs: EpochMs, countMax: number): Promise<number> {
  const rows = await queries.rows<{ id: string }>(
    `DELETE FROM tasks WHERE id IN (
       SELECT id FROM tasks WHERE state IN ('SUCCESS', 'FAILED') AND created_ms < ?
         AND NOT EXISTS (SELECT 1 FROM tasks AS parents WHERE parents.id = tasks.parent AND parents.state NOT IN ('SUCCESS', 'FAILED'))
         AND NOT EXISTS (SELECT 1 FROM tasks AS children WHERE children.parent = tasks.id AND children.state NOT IN ('SUCCESS', 'FAILED'))
       ORDER BY created_ms, id LIMIT ?)
     RETURNING id`,
    [beforeMs, countMax],
  );
  for (const { id } of rows) await queries.rows('DELETE FROM publications WHERE task_id = ?', [id]);
  return rows.length;
}
