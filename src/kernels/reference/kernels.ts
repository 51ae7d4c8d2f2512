// The reference kernel set, in plain TypeScript.

import type { KernelSet } from '../contract.js';
import type { KernelMemory } from '../memory.js';
import { aggregateKernels } from './aggregate.js';
import { bitmapKernels } from './bitmap.js';
import { calendarKernels } from './calendar.js';
import { computeKernels } from './compute.js';
import { decodeKernels } from './decode.js';
import { dictionaryKernels } from './dictionary.js';
import { documentKernels } from './documents.js';
import { filterKernels } from './filter.js';
import { groupKernels } from './group.js';
import { hashKernels } from './hash.js';
import { joinKernels } from './join.js';
import { keyKernels } from './keys.js';
import { listKernels, madeListKernels } from './lists.js';
import { numberKernels } from './number.js';
import { patternKernels } from './patterns.js';
import { scanKernels } from './scan.js';
import { tallyKernels } from './tally.js';
import { textKernels } from './text.js';
import { textGroupKernels } from './text-groups.js';
import { textIdKernels } from './text-ids.js';
import { timeKernels } from './time.js';
import { stretchKernels, topKernels } from './top.js';

/** The contract in plain TypeScript: what the other sets are compared with, and what runs where they cannot. */
export function createReferenceKernels(memory: KernelMemory): KernelSet {
  return {
    ...filterKernels(memory),
    ...bitmapKernels(memory),
    ...aggregateKernels(memory),
    ...groupKernels(memory),
    ...tallyKernels(memory),
    ...keyKernels(memory),
    ...timeKernels(memory),
    ...calendarKernels(memory),
    ...computeKernels(memory),
    ...numberKernels(memory),
    ...decodeKernels(memory),
    ...dictionaryKernels(memory),
    ...textKernels(memory),
    ...documentKernels(memory),
    ...textGroupKernels(memory),
    ...patternKernels(memory),
    ...scanKernels(memory),
    ...textIdKernels(memory),
    ...hashKernels(memory),
    ...joinKernels(memory),
    ...listKernels(memory),
    ...madeListKernels(memory),
    ...stretchKernels(memory),
    ...topKernels(memory),
  };
}
