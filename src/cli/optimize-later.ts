// Makes V8 optimize functions later while a server starts.

import { setFlagsFromString } from 'node:v8';

/** A flag of V8; `npx node --v8-options` describes it. */
export const OPTIMIZE_LATER = '--interrupt-budget=270000';

/**
 * Has V8 optimise a function when it has run twice as much as by default (decision 19). Kernels do most of the work, so
 * optimised JavaScript saves a query little. To make it takes a good part of a query, in V8's own threads, on the very
 * processors that the processing threads want, and goes on for a hundred queries of every new kind. For all threads of the
 * process, those that run already too. Who starts node with the flag has decided otherwise.
 */
export function optimizeLater(): void {
  const [name = ''] = OPTIMIZE_LATER.split('=');
  if (!process.execArgv.some((flag) => flag.startsWith(name))) setFlagsFromString(OPTIMIZE_LATER);
}
