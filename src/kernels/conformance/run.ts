// Runs the conformance suite over a kernel set.

import type { KernelName, KernelSet } from '../contract.js';
import type { KernelMemory } from '../memory.js';
import { AGGREGATE_CHECKS } from './aggregate.js';
import { ARRAY_CHECKS } from './arrays.js';
import { BITMAP_CHECKS } from './bitmap.js';
import { CALENDAR_CHECKS } from './calendar.js';
import { COMPUTE_CHECKS } from './compute.js';
import { DECODE_CHECKS } from './decode.js';
import { DICTIONARY_CHECKS } from './dictionary.js';
import { FILTER_CHECKS } from './filter.js';
import { GROUP_CHECKS } from './group.js';
import { HASH_CHECKS } from './hash.js';
import { JOIN_CHECKS } from './join.js';
import { KEY_CHECKS } from './keys.js';
import { ConformanceFailure, Lab } from './lab.js';
import { LIST_CHECKS } from './lists.js';
import { MADE_LIST_CHECKS } from './made-lists.js';
import { NUMBER_CHECKS } from './number.js';
import { RANGE_CHECKS } from './ranges.js';
import { SCAN_CHECKS } from './scan.js';
import { STRETCH_CHECKS } from './stretches.js';
import { TALLY_CHECKS } from './tally.js';
import { DOCUMENT_CHECKS } from './text/documents.js';
import { PATTERN_CHECKS } from './text/patterns.js';
import { TEXT_CHECKS } from './text/text.js';
import { TEXT_GROUP_CHECKS } from './text/text-groups.js';
import { TEXT_ID_CHECKS } from './text/text-ids.js';
import { TEXT_NUMBER_CHECKS } from './text/text-numbers.js';
import { TIME_CHECKS } from './time.js';
import { TOP_CHECKS } from './top.js';

/** Conformance checks of every kernel. A kernel of the contract without a check does not compile. */
const KERNEL_CHECKS: Readonly<Record<KernelName, (lab: Lab) => void>> = {
  ...FILTER_CHECKS,
  ...BITMAP_CHECKS,
  ...AGGREGATE_CHECKS,
  ...GROUP_CHECKS,
  ...TALLY_CHECKS,
  ...KEY_CHECKS,
  ...TIME_CHECKS,
  ...CALENDAR_CHECKS,
  ...COMPUTE_CHECKS,
  ...NUMBER_CHECKS,
  ...DECODE_CHECKS,
  ...DICTIONARY_CHECKS,
  ...TEXT_CHECKS,
  ...TEXT_GROUP_CHECKS,
  ...TEXT_NUMBER_CHECKS,
  ...DOCUMENT_CHECKS,
  ...PATTERN_CHECKS,
  ...SCAN_CHECKS,
  ...TEXT_ID_CHECKS,
  ...HASH_CHECKS,
  ...JOIN_CHECKS,
  ...LIST_CHECKS,
  ...ARRAY_CHECKS,
  ...MADE_LIST_CHECKS,
  ...STRETCH_CHECKS,
  ...RANGE_CHECKS,
  ...TOP_CHECKS,
};

export interface KernelFailure {
  readonly kernel: KernelName;
  readonly message: string;
}

/**
 * Runs the whole suite over a kernel set; expected values come from plain arithmetic in the checks. Takes seconds.
 * @returns the first failure of each kernel that is wrong; none when the set fulfils the contract
 */
export function findFailures(kernels: KernelSet, memory: KernelMemory, names: readonly KernelName[] = kernelNames()): KernelFailure[] {
  const lab = new Lab(kernels, memory);
  try {
    return names.flatMap((kernel) => {
      const message = failureOf(() => KERNEL_CHECKS[kernel](lab));
      return message === null ? [] : [{ kernel, message }];
    });
  } finally {
    lab.close();
  }
}

export function kernelNames(): KernelName[] {
  return Object.keys(KERNEL_CHECKS) as KernelName[];
}

/** A kernel may also trap; either way it is the kernel that is wrong. */
function failureOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof ConformanceFailure) return error.message;
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}
