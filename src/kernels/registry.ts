// The kernel sets by name, and how they are loaded.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isAbsolute, join, resolve } from 'node:path';
import { instantiateSync } from '@assemblyscript/loader';
import { ServiceError } from '../base/errors.js';
import { INSTALLATION } from '../base/installation.js';
import { own } from '../base/names.js';
import { KERNEL_CONTRACT_VERSION, type KernelSet } from './contract.js';
import type { KernelMemory } from './memory.js';
import { createReferenceKernels } from './reference/kernels.js';
import { KERNEL_PARAMETERS } from './signatures.js';

type Create = (memory: KernelMemory) => KernelSet;

const wasm = (file: string): Create => {
  const path = join(INSTALLATION, 'build', file);
  return (memory) => instantiateWasm(path, memory);
};

/** The sets by name. The debug ones assert alignment and sizes at every call. */
export const KERNEL_SETS: Readonly<Record<string, Create>> = {
  simd: wasm('kernels-simd.wasm'),
  scalar: wasm('kernels-scalar.wasm'),
  reference: createReferenceKernels,
  'simd-debug': wasm('kernels-simd-debug.wasm'),
  'scalar-debug': wasm('kernels-scalar-debug.wasm'),
};

/**
 * The kernel set `name` over `memory`. Synchronous; a WebAssembly module is compiled once per thread.
 * @param name  a key of KERNEL_SETS, or the path of a module of one's own:
 *              - `.wasm`: imports `env.memory` (shared) and `env.abort`, exports the kernels as functions and the
 *                global `KERNEL_CONTRACT_VERSION`; its static data stays within addresses 1,024 to 65,535;
 *              - `.js`, `.mjs`, `.cjs`: exports `KERNEL_CONTRACT_VERSION` and `createKernels(memory: KernelMemory)`
 * @throws ServiceError `input_invalid` for an unknown name, an unreadable or foreign module, another contract version,
 *         and for kernels that are missing or take another number of parameters, by name
 */
export function instantiateKernels(name: string, memory: KernelMemory): KernelSet {
  const create = Object.hasOwn(KERNEL_SETS, name) ? own(KERNEL_SETS, name) : undefined;
  if (create !== undefined) return create(memory);
  const path = isAbsolute(name) ? name : resolve(name);
  if (name.endsWith('.wasm')) return instantiateWasm(path, memory);
  if (/\.[cm]?js$/.test(name)) return instantiateScript(path, memory);
  const known = Object.keys(KERNEL_SETS).join(', ');
  throw new ServiceError(
    'input_invalid',
    `svc.processing.kernels: found "${name}", expected one of ${known} or the path of a .wasm or .js module`,
  );
}

/** The sets that a thread uses over its memory, each made once. */
export class KernelSets {
  readonly #memory: KernelMemory;
  readonly #defaultName: string;
  readonly #made = new Map<string, KernelSet>();

  constructor(memory: KernelMemory, defaultName: string) {
    this.#memory = memory;
    this.#defaultName = defaultName;
  }

  get(name = this.#defaultName): KernelSet {
    const known = this.#made.get(name);
    if (known !== undefined) return known;
    const kernels = instantiateKernels(name, this.#memory);
    this.#made.set(name, kernels);
    return kernels;
  }
}

const compiled = new Map<string, WebAssembly.Module>();

function instantiateWasm(path: string, memory: KernelMemory): KernelSet {
  const { exports } = attempt(path, () => {
    const module = compiled.get(path) ?? new WebAssembly.Module(readFileSync(path));
    compiled.set(path, module);
    // The exports of the instance itself: those that the loader returns wrap every call.
    return instantiateSync(module, { env: { memory: memory.memory, abort: abortOf(memory) } }).instance;
  });
  const version = exports['KERNEL_CONTRACT_VERSION'];
  return checkKernels(path, version instanceof WebAssembly.Global ? version.value : version, exports);
}

function instantiateScript(path: string, memory: KernelMemory): KernelSet {
  const module = attempt(path, () => createRequire(import.meta.url)(path) as { readonly [name: string]: unknown });
  const create = module['createKernels'];
  if (typeof create !== 'function') throw refused(path, 'it exports no function createKernels');
  const kernels: unknown = attempt(path, () => create(memory) as unknown);
  if (typeof kernels !== 'object' || kernels === null) throw refused(path, 'createKernels returned no object');
  return checkKernels(path, module['KERNEL_CONTRACT_VERSION'], kernels as Readonly<Record<string, unknown>>);
}

/** Turns untyped exports into a KernelSet. */
function checkKernels(path: string, version: unknown, exports: Readonly<Record<string, unknown>>): KernelSet {
  if (version !== KERNEL_CONTRACT_VERSION) {
    throw refused(path, `its KERNEL_CONTRACT_VERSION is ${String(version)}, expected ${KERNEL_CONTRACT_VERSION}`);
  }
  const names = Object.entries(KERNEL_PARAMETERS);
  const missing = names.filter(([name]) => typeof own(exports, name) !== 'function').map(([name]) => name);
  if (missing.length > 0) throw refused(path, `it does not export ${missing.join(', ')}`);
  for (const [name, count] of names) {
    const kernel = own(exports, name);
    if (typeof kernel === 'function' && kernel.length !== count)
      throw refused(path, `${name} takes ${kernel.length} parameters, expected ${count}`);
  }
  return exports as unknown as KernelSet;
}

function attempt<Result>(path: string, load: () => Result): Result {
  try {
    return load();
  } catch (error) {
    throw refused(path, error instanceof Error ? error.message : String(error), error);
  }
}

function refused(path: string, reason: string, cause?: unknown): ServiceError {
  return new ServiceError('input_invalid', `kernel module ${path}: ${reason}`, cause);
}

/** A failed assert of a debug build. Strings of the module are UTF-16 with their byte length four bytes before them. */
function abortOf(memory: KernelMemory) {
  const text = (at: number): string => (at === 0 ? '' : Buffer.from(memory.u8(at, memory.u32(at - 4, 1)[0])).toString('utf16le'));
  return (message: number, file: number, line: number, column: number): void => {
    throw new ServiceError('internal', `kernel: ${text(message) || 'assertion failed'} at ${text(file)}:${line}:${column}`);
  };
}
