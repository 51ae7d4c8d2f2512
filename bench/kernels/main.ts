import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import picocolors from 'picocolors';
import type { KernelSet } from '../../src/kernels/contract.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import { alternate, median, speedUp, type Timing } from '../harness.js';
import { bandwidthContenders } from './bandwidth.js';
import { Bench, type BenchCase } from './bench-case.js';
import { CASE_GROUPS } from './cases.js';
import { type Goal, judge, type KernelFigure } from './goals.js';

export interface KernelBenchResult {
  readonly bandwidthGigabytesPerSecond: number;
  readonly figures: readonly KernelFigure[];
  readonly goals: readonly Goal[];
}

/**
 * Times every case with every set, in one process and by turns, after comparing the answers of all sets.
 * @param options.sets   names or paths, the first is the one judged
 * @param options.json   file that every figure is written to, or null
 * @param options.smoke  small data and one round: answers are compared, times mean nothing and no goal is judged
 * @throws Error when two sets differ in an answer
 */
export function runKernelBench(options: {
  readonly sets: readonly string[];
  readonly json: string | null;
  readonly smoke: boolean;
  readonly only?: RegExp;
}): KernelBenchResult {
  const figures: KernelFigure[] = [];
  const bandwidths: number[] = [];
  for (const makeCases of CASE_GROUPS) {
    const memory = KernelMemory.create({ maximumBytes: 1024 * 1024 * 1024 });
    const sets = options.sets.map((name) => ({ name, kernels: instantiateKernels(name, memory) }));
    for (const benchCase of makeCases(new Bench(memory, options.smoke ? 0.01 : 1))) {
      if (options.only !== undefined && !options.only.test(benchCase.name)) continue;
      compareAnswers(benchCase, sets, memory);
      const probes = benchCase.againstBandwidth === true ? bandwidthContenders(memory, benchCase.bytes) : [];
      const timings = alternate(
        [
          ...sets.map(({ name, kernels }) => ({ name, run: () => pass(benchCase, (block) => benchCase.call(kernels, block)) })),
          ...(benchCase.plain === undefined ? [] : [{ name: 'plain', run: () => pass(benchCase, benchCase.plain ?? (() => undefined)) }]),
          ...probes,
        ],
        options.smoke ? { rounds: 1, roundMs: 0 } : { rounds: 7, roundMs: 15 },
      );
      const [probe] = [...probes].sort((a, b) => rateOf(timings, b.name, b.bytes) - rateOf(timings, a.name, a.bytes));
      if (probe !== undefined) bandwidths.push(rateOf(timings, probe.name, probe.bytes));
      figures.push(figureOf(benchCase, timings, probe, [...options.sets, ...(benchCase.plain === undefined ? [] : ['plain'])]));
      if (!options.smoke) printFigure(figures.at(-1), options.sets);
    }
  }
  const result = {
    bandwidthGigabytesPerSecond: median(bandwidths) / 1e9,
    figures,
    goals: options.smoke || options.only !== undefined ? [] : judge(figures, options.sets),
  };
  if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
  return result;
}

function pass(benchCase: BenchCase, call: (block: number) => void): void {
  benchCase.reset?.();
  for (let block = 0; block < benchCase.blocks; block++) call(block);
}

/** Over the first blocks: afterwards only speed is looked at. */
function compareAnswers(benchCase: BenchCase, sets: readonly { name: string; kernels: KernelSet }[], memory: KernelMemory): void {
  const answers = sets.map(({ name, kernels }) => {
    for (const { at, bytes } of benchCase.outputs) memory.u8(at, bytes).fill(0);
    benchCase.reset?.();
    const hash = createHash('sha1');
    for (let block = 0; block < Math.min(benchCase.blocks, 20); block++) {
      benchCase.call(kernels, block);
      for (const { at, bytes } of benchCase.outputs) hash.update(memory.u8(at, bytes));
    }
    return { name, answer: hash.digest('hex') };
  });
  const other = answers.find(({ answer }) => answer !== answers[0]?.answer);
  if (other !== undefined) throw new Error(`${benchCase.name}: ${other.name} answers differently from ${answers[0]?.name}`);
}

function timingOf(timings: readonly Timing[], name: string): Timing {
  return timings.find((timing) => timing.name === name) ?? { name, nanoseconds: [] };
}

/** Amount per second. */
function rateOf(timings: readonly Timing[], name: string, amount: number): number {
  return (amount / median(timingOf(timings, name).nanoseconds)) * 1e9;
}

function figureOf(
  benchCase: BenchCase,
  timings: readonly Timing[],
  probe: { readonly name: string; readonly bytes: number } | undefined,
  names: readonly string[],
): KernelFigure {
  const [first = ''] = names;
  const each = (figure: (name: string) => number): Record<string, number> => Object.fromEntries(names.map((name) => [name, figure(name)]));
  return {
    case: benchCase.name,
    kernels: benchCase.kernels,
    rowsPerSecond: each((name) => rateOf(timings, name, benchCase.rows)),
    gigabytesPerSecond: each((name) => rateOf(timings, name, benchCase.bytes) / 1e9),
    speedUp: each((name) => speedUp(timingOf(timings, first), timingOf(timings, name))),
    ...(probe === undefined
      ? {}
      : { bandwidthShare: (speedUp(timingOf(timings, first), timingOf(timings, probe.name)) * benchCase.bytes) / probe.bytes }),
  };
}

function printFigure(figure: KernelFigure | undefined, sets: readonly string[]): void {
  if (figure === undefined) return;
  const columns = Object.keys(figure.rowsPerSecond).map((name) => {
    const rate = `${name} ${((figure.rowsPerSecond[name] ?? 0) / 1e6).toFixed(0)} Mrow/s`;
    if (name === sets[0]) return `${rate} ${(figure.gigabytesPerSecond[name] ?? 0).toFixed(1)} GB/s`;
    const times = figure.speedUp[name] ?? 0;
    return `${rate} ${(times < 1 ? picocolors.red : picocolors.dim)(`×${times.toFixed(2)}`)}`;
  });
  const share = figure.bandwidthShare === undefined ? '' : `   ${figure.bandwidthShare.toFixed(2)} of the read bandwidth`;
  console.log(`${figure.case.padEnd(42)} ${columns.join('   ')}${share}`);
}

/** Flags: --kernels a,b (simd,scalar,reference), --json FILE, --smoke, --only PATTERN. */
if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: { kernels: { type: 'string' }, json: { type: 'string' }, smoke: { type: 'boolean' }, only: { type: 'string' } },
  });
  const result = runKernelBench({
    sets: (values.kernels ?? 'simd,scalar,reference').split(','),
    json: values.json ?? null,
    smoke: values.smoke === true,
    ...(values.only === undefined ? {} : { only: new RegExp(values.only) }),
  });
  if (!Number.isNaN(result.bandwidthGigabytesPerSecond))
    console.log(`read bandwidth (the faster of memchr and memcmp, median): ${result.bandwidthGigabytesPerSecond.toFixed(1)} GB/s`);
  for (const { name, found, wanted, isMet } of result.goals) {
    console.log(`${isMet ? picocolors.green('met ') : picocolors.red('MISS')} ${name}: ${found.toFixed(2)}, wanted ${wanted}`);
  }
}
