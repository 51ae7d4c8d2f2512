// Puts local files where the server may read them.

import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, linkSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { parseJsonWithDoubles } from '../../base/json.js';
import type { DolmenClient } from '../client.js';

export interface StagedInputs {
  /** Paths under which the server may read the files, in their order. */
  readonly paths: readonly string[];
  /** Removes what was put there for them. */
  takeBack(): void;
}

const ALLOWED = 'svc.ingestion.local.allowedDirectories';

/**
 * The server reads files below its allowed directories only. Files elsewhere on the same machine are linked, or else
 * copied, into the first of these that can be written to; those for a server elsewhere have to get there by other means.
 */
export async function stageInputs(client: DolmenClient, files: readonly string[]): Promise<StagedInputs> {
  if (files.length === 0) return { paths: [], takeBack: () => {} };
  const allowed = await allowedDirectories(client);
  const roots = allowed.filter((directory) => existsSync(directory)).map((directory) => realpathSync(directory) + sep);
  const found = files.map((file) => realpathSync(file));
  const outside = found.filter((file) => !roots.some((root) => file.startsWith(root)));
  if (outside.length === 0) return { paths: found, takeBack: () => {} };

  for (const root of roots) {
    const folder = join(root, `ingest-${randomUUID()}`);
    try {
      mkdirSync(folder);
      const staged = new Map(
        outside.map((file, number) => [file, stage(file, outside.length === 1 ? folder : join(folder, String(number)))]),
      );
      return { paths: found.map((file) => staged.get(file) ?? file), takeBack: () => rmSync(folder, { recursive: true, force: true }) };
    } catch {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new ServiceError(
    'input_invalid',
    `the server at ${client.url} reads files below ${allowed.join(', ') || 'no directory'} only (${ALLOWED}), and none of these can be written to from here.` +
      ' Put the files there, or load them by their URLs from a web server.',
  );
}

/** Puts a file into a folder under its own name. */
function stage(file: string, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const staged = join(folder, basename(file));
  try {
    linkSync(file, staged);
  } catch {
    copyFileSync(file, staged); // another file system, or one without links
  }
  return staged;
}

async function allowedDirectories(client: DolmenClient): Promise<readonly string[]> {
  const properties = (await client.call('GET', '/status/properties')) as Readonly<Record<string, string>>;
  const list: unknown = parseJsonWithDoubles(properties[ALLOWED] ?? '[]');
  return Array.isArray(list) ? list.map(String) : [];
}
