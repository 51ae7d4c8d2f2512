// Reference kernels: parts of documents.

import type { Address } from '../../base/layout.js';
import type { DocumentKernels } from '../document-contract.js';
import type { KernelMemory } from '../memory.js';
import { textMemory } from './text-memory.js';

/** A value in a text, and what it is made of by name or index. */
interface Value {
  readonly from: number;
  readonly to: number;
  readonly parts: ReadonlyMap<string | number, Value>;
}

const SCALAR = /"(?:[^"\\]|\\.)*"|[^,:[\]{}"]+/sy;

/** @param bytes  of the text, one character each */
function valueAt(bytes: string, from: number): Value {
  const parts = new Map<string | number, Value>();
  const mark = bytes[from];
  if (mark !== '[' && mark !== '{') {
    SCALAR.lastIndex = from;
    SCALAR.exec(bytes);
    return { from, to: SCALAR.lastIndex, parts };
  }
  let at = from + 1;
  while (bytes[at] !== ']' && bytes[at] !== '}') {
    const name = mark === '{' ? valueAt(bytes, at) : undefined;
    const value = valueAt(bytes, name === undefined ? at : name.to + 1);
    parts.set(name === undefined ? parts.size : bytes.slice(name.from + 1, name.to - 1), value);
    at = bytes[value.to] === ',' ? value.to + 1 : value.to;
  }
  return { from, to: at + 1, parts };
}

export function documentKernels(memory: KernelMemory): DocumentKernels {
  const { textAt, put, putNull } = textMemory(memory);
  const bytesOf = (at: Address, length: number): string => Buffer.from(memory.u8(at, length)).toString('latin1');
  const stepsOf = (path: Address, pathBytes: number): (string | number)[] => {
    const steps: (string | number)[] = [];
    for (let at = path; at < path + pathBytes; ) {
      const [step = 0] = memory.u32(at, 1);
      at += 4;
      if (step >= 2 ** 31) steps.push(step - 2 ** 31);
      else {
        steps.push(bytesOf(at, step));
        at += Math.ceil(step / 4) * 4;
      }
    }
    return steps;
  };
  return {
    documentPart(texts, n, path, pathBytes, out) {
      const steps = stepsOf(path, pathBytes);
      for (let i = 0; i < n; i++) {
        const text = textAt(texts, i);
        const bytes = text === null ? '' : bytesOf(text.at, text.length);
        let value: Value | undefined = text === null ? undefined : valueAt(bytes, 0);
        for (const step of steps) value = value?.parts.get(step);
        if (text === null || value === undefined || bytes.slice(value.from, value.to) === 'null') putNull(out, i);
        else put(out, i, text.at + value.from, value.to - value.from, text.isWide);
      }
    },
    documentElements(texts, n, out) {
      const counts = memory.i64(out, n);
      for (let i = 0; i < n; i++) {
        const text = textAt(texts, i);
        const bytes = text === null ? '' : bytesOf(text.at, text.length);
        counts[i] = BigInt(text === null ? 0 : bytes.startsWith('[') ? valueAt(bytes, 0).parts.size : 1);
      }
    },
  };
}
