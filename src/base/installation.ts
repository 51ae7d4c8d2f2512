// Finds the folder that Dolmen is installed in.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with package.json, build/ and node_modules: above this module, whether it is in dist/ or in a bundle. */
export const INSTALLATION = folderAbove(dirname(fileURLToPath(import.meta.url)));

function folderAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('no package.json above the program: its installation is incomplete');
  return folderAbove(parent);
}
