// Accumulator of aggregate states over the groups of one segment.

import { ServiceError } from '../../../base/errors.js';
import type { Aggregator } from '../../../model/aggregator.js';
import { stateOperations } from '../../aggregate-state/operations.js';
import { GatheredHashes } from '../../aggregate-state/sketch/gathered-hashes.js';
import { hasTexts, stateFeed } from '../../aggregate-state/state-feed.js';
import type { SharedWork } from '../../aggregate-state/state-operations.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { NumberVector } from '../../expression/vector.js';
import type { DistinctAccumulator } from './distinct-accumulator.js';

const BLOCKS_BETWEEN_MEASURES = 32;

/**
 * The states of a `state` aggregator over the groups of one segment, combined when its rows are through.
 * @param order   place of the segment in the query
 * @param groupCountMax  most groups the segment can have; Infinity when unknown
 * @param shared  among the aggregators with the same filter
 * @returns undefined when no row of the segment changes any state
 */
export function stateAccumulator(
  scope: SegmentScope,
  index: number,
  { aggregateState, columns, input }: Extract<Aggregator, { kind: 'state' }>,
  { order, groupCountMax }: { readonly order: number; readonly groupCountMax: number },
  shared: SharedWork,
): { readonly nulls: NumberVector | undefined; readonly accumulator: DistinctAccumulator } | undefined {
  const { memory, groupBytesMax, spill } = scope.context;
  const kind = stateOperations(aggregateState);
  const [column = ''] = columns;
  const readsStates = input === 'states' || (input === 'mixed' && hasTexts(scope, column));
  const feed = readsStates ? stateFeed(scope, kind, column, input === 'mixed') : kind.bind(scope, columns, shared);
  if (feed === undefined) return undefined;
  const hashes = readsStates || kind.hashes === undefined ? undefined : new GatheredHashes(kind.hashes);
  const states: unknown[] = [];
  const bytesEach = Math.max(1, kind.bytes(kind.create()));
  // Groups that can spill are combined before a segment outgrows the limit.
  const roomFor = spill === undefined ? groupBytesMax / bytesEach : Infinity;
  let count = 0;
  const refuse = (): never => {
    throw new ServiceError(
      'resource_limit',
      `the aggregates of one segment need more than ${groupBytesMax} bytes on one processing thread; the limit is svc.query.groupBy.maxMemoryBytes`,
    );
  };
  // States grow with their rows: what they take is asked for now and then.
  let blocks = 0;
  let measuredBytes = 0;
  const measure = (): void => {
    measuredBytes = (feed.bytesOf?.() ?? 0) + (hashes?.bytes ?? 0);
    states.forEach((state) => {
      measuredBytes += kind.bytes(state);
    });
    if (spill === undefined && measuredBytes > groupBytesMax) refuse();
  };
  const ownState = (group: number): unknown => {
    const known = states[group];
    if (known !== undefined) return known;
    if (++count > roomFor) refuse();
    const created = kind.create();
    states[group] = created;
    return created;
  };
  const stateOf = hashes?.stateOf ?? ownState;
  return {
    nulls: feed.nulls,
    accumulator: {
      readsRows: true,
      get heapBytes() {
        const waiting = Math.min(feed.waiting ?? 0, groupCountMax);
        return Math.max(count * bytesEach + (feed.bytesOf?.() ?? 0) + (hashes?.bytes ?? 0), measuredBytes) + waiting * bytesEach;
      },
      addGroups(block, rows, groups, n) {
        feed.add(block, rows, groups, n, stateOf);
        if (++blocks % BLOCKS_BETWEEN_MEASURES === 0) measure();
      },
      combine(table, groupOf, groupCount) {
        const objects = table.states[index]?.objects;
        if (feed.endTexts !== undefined && objects?.addTexts !== undefined) {
          feed.endTexts(groupOf, groupCount, (texts, groups, n) => objects.addTexts?.(texts, groups, n));
          return;
        }
        if (feed.endTimed !== undefined && objects?.addTimed !== undefined) {
          feed.endTimed(groupOf, groupCount, (rows) => objects.addTimed?.(rows));
          return;
        }
        if (feed.endLists !== undefined && objects?.addLists !== undefined) {
          feed.endLists((values) => objects.addLists?.(values, groupOf, order));
          return;
        }
        if (feed.endMoments !== undefined && objects?.addMoments !== undefined) {
          feed.endMoments(groupOf, groupCount, (moments, groups, n) => objects.addMoments?.(moments, groups, n));
          return;
        }
        const numbers = memory.u32(groupOf, groupCount).slice();
        if (feed.endPieces !== undefined && objects?.addPieces !== undefined) {
          feed.endPieces(order, (pieces) => objects.addPieces?.(pieces, numbers));
          return;
        }
        if (feed.endBits !== undefined && objects?.addBits !== undefined) {
          feed.endBits((values, seen) => objects.addBits?.(values, seen, numbers));
          return;
        }
        if (hashes !== undefined && !hashes.isEmpty) objects?.addHashes?.(hashes, numbers);
        if (kind.isOrdered) feed.end?.(stateOf);
        if (objects?.addStates !== undefined) {
          const present = Object.keys(states).map(Number);
          objects.addStates(
            present.map((group) => numbers[group] ?? 0),
            order,
            present.map((group) => states[group]),
          );
        } else states.forEach((state, group) => objects?.add(numbers[group] ?? 0, order, state));
        // States without an order: those of the whole query take in the values that waited.
        if (!kind.isOrdered) objects?.change((stateAt) => feed.end?.((group) => stateAt(numbers[group] ?? 0)));
      },
    },
  };
}
