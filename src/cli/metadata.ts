// The commands `dolmen metadata export` and `import`: the metadata store to a file of SQLite, and back into any store.

import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { ServiceError } from '../base/errors.js';
import { metadataSettings } from '../cluster/metadata-settings.js';
import { Configuration } from '../configuration/configuration.js';
import { copyStore } from '../metadata/copy-store.js';
import { type MetadataSettings, openDatabase } from '../metadata/open-database.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { showProgress } from './progress-bar.js';
import { countText } from './style.js';

export interface MetadataOptions {
  readonly flags: readonly string[];
  readonly file: string | undefined;
}

/** Copies the store that the configuration names into a new file. */
export async function metadataExport(file: string, options: MetadataOptions): Promise<ExitCode> {
  if (existsSync(file)) throw new ServiceError('conflict', `${file} is there already; expected the path of a new file`);
  return copy('export', storeOf(options), { type: 'sqlite', file });
}

/** Copies a file into the store that the configuration names. */
export async function metadataImport(file: string, options: MetadataOptions): Promise<ExitCode> {
  const target = storeOf(options);
  if (target.type === 'sqlite') mkdirSync(dirname(target.file), { recursive: true, mode: 0o700 });
  return copy('import', { type: 'sqlite', file }, target);
}

function storeOf({ flags, file }: MetadataOptions): MetadataSettings {
  const configuration = Configuration.read({ environment: process.env, flags, ...(file === undefined ? {} : { file }) });
  return metadataSettings(configuration, 'metadata');
}

async function copy(title: string, from: MetadataSettings, to: MetadataSettings): Promise<ExitCode> {
  // A file that is not there would be made.
  if (from.type === 'sqlite' && !existsSync(from.file))
    throw new ServiceError('input_unreadable', `there is no metadata file ${from.file}`);
  const source = await openDatabase(from);
  try {
    const target = await openDatabase(to);
    const view = showProgress(title);
    try {
      const counts = await copyStore(source, target, ({ table, rows, rowsMax }) =>
        view.update({ phase: table, fraction: rowsMax === 0 ? null : rows / rowsMax, rows, pace: '' }),
      );
      view.stop();
      for (const [table, count] of counts) if (count > 0) process.stdout.write(`${table}: ${countText(count, 'row')}\n`);
    } finally {
      view.stop();
      await target.close();
    }
  } finally {
    await source.close();
  }
  return EXIT.done;
}
