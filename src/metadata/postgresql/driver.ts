// The driver of PostgreSQL, loaded when it is first needed.

import { createRequire } from 'node:module';
import { onFirstUse } from '../../base/on-first-use.js';

/** `pg`: of the metadata store, and of databases that rows are read from. */
export const postgresqlDriver = onFirstUse(() => createRequire(import.meta.url)('pg') as typeof import('pg'));
