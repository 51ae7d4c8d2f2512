// Flags of V8: functions are optimised later while a server is young and sooner once it has work to do, and garbage is collected less often.

import { setFlagsFromString } from 'node:v8';

/** Flags of V8; `npx node --v8-options` describes them. */
export const OPTIMIZE_LATER = '--interrupt-budget=270000';
export const OPTIMIZE_SOONER = '--interrupt-budget=33792';
/**
 * Leaves out functions that take seconds to optimise, and gain nothing: the one of the parser library that makes the thousand others.
 * Ours are a quarter of this at most.
 */
export const OPTIMIZE_NO_GIANTS = '--max-optimized-bytecode-size=20000';

/**
 * Compiles each function to machine code, without optimising it, when it is called first, where V8 would interpret it until it has run for a
 * while: a statement of a server that few have asked yet is made of functions that ran some dozens of times (decision 19).
 */
export const COMPILE_FIRST = '--always-sparkplug';
export const COMPILE_LATER = '--no-always-sparkplug';

/**
 * Lets the heap of a thread that starts from here on grow to 256 MiB before V8 looks at all of it. A thread has some twenty MiB that stay,
 * so that V8 did so at every third query, on four threads of its own (decision 19).
 */
export const COLLECT_LATER = '--initial-old-space-size=256';

/**
 * Lets each thread collect its own garbage, where V8 would spread each collection over four threads of its own: these heaps are small, so that
 * spreading takes longer than collecting, on the processors that other queries run on (decision 19). V8 can only be started with this:
 * `npm start`, the first line of bin/dolmen.mjs and benches have it.
 */
export const COLLECT_ALONE = '--single-threaded-gc';

/** Whoever has sent so many queries is going to send more. */
const QUERIES_UNTIL_SOONER = 2000;

/**
 * Sets what a server wants of V8 (decision 19). A function is optimised when it has run four times as much as by default: kernels do most of
 * the work, so optimised JavaScript saves a query little, and to make it takes a good part of a query, in V8's own threads, on the very
 * processors that the processing threads want, for a hundred queries of every new kind. For all threads of the process, but the room of
 * heaps for those alone that start later. A flag that node was started with stays.
 */
export function setV8Flags(): void {
  setFlag(OPTIMIZE_LATER);
  setFlag(OPTIMIZE_NO_GIANTS);
  setFlag(COMPILE_FIRST);
  setFlag(COLLECT_LATER);
}

/**
 * To be called with each query. After two thousand of them what runs for each is optimised when it has run half as much as by default:
 * thousands of short queries in a row are made of JavaScript, and of code that is not optimised they take half as much time again. What is called first
 * from then on is rare.
 */
export function queryCounter(): () => void {
  let count = 0;
  return () => {
    if (++count !== QUERIES_UNTIL_SOONER) return;
    setFlag(OPTIMIZE_SOONER);
    setFlag(COMPILE_LATER);
  };
}

function setFlag(flag: string): void {
  if (!isGiven(flag, process.execArgv)) setFlagsFromString(flag);
}

/** Whether a flag, or what it turns off, is among those that node was started with. */
export function isGiven(flag: string, given: readonly string[]): boolean {
  return given.some((each) => nameOf(each) === nameOf(flag));
}

function nameOf(flag: string): string {
  const [name = ''] = flag.split('=');
  return name.replace(/^--(no-)?/, '');
}
