// Puts a local file where the server may read it.

import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, linkSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { ServiceError } from '../base/errors.js';
import { parseJsonWithDoubles } from '../base/json.js';
import type { DolmenClient } from './client.js';

export interface StagedInput {
  /** Path under which the server may read the file. */
  readonly path: string;
  /** Removes what was put there for it. */
  takeBack(): void;
}

const ALLOWED = 'svc.ingestion.local.allowedDirectories';

/**
 * The server reads files below its allowed directories only. A file elsewhere on the same machine is linked, or else
 * copied, into the first of these that can be written to; one for a server elsewhere has to get there by other means.
 */
export async function stageInput(client: DolmenClient, file: string): Promise<StagedInput> {
  const path = realpathSync(file);
  const allowed = await allowedDirectories(client);
  if (allowed.some((directory) => existsSync(directory) && path.startsWith(realpathSync(directory) + sep)))
    return { path, takeBack: () => {} };

  for (const directory of allowed) {
    if (!existsSync(directory)) continue;
    const folder = join(directory, `ingest-${randomUUID()}`);
    try {
      mkdirSync(folder);
      const staged = join(folder, basename(path));
      try {
        linkSync(path, staged);
      } catch {
        copyFileSync(path, staged); // another file system, or one without links
      }
      return { path: staged, takeBack: () => rmSync(folder, { recursive: true, force: true }) };
    } catch {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new ServiceError(
    'input_invalid',
    `the server at ${client.url} reads files below ${allowed.join(', ') || 'no directory'} only (${ALLOWED}), and none of these can be written to from here.` +
      ' Put the file there, or load it from a web server with an http input source.',
  );
}

async function allowedDirectories(client: DolmenClient): Promise<readonly string[]> {
  const properties = (await client.call('GET', '/status/properties')) as Readonly<Record<string, string>>;
  const list: unknown = parseJsonWithDoubles(properties[ALLOWED] ?? '[]');
  return Array.isArray(list) ? list.map(String) : [];
}
