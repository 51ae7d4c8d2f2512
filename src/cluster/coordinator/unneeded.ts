// Used segments that nobody needs any more.

import { LoopTurns } from '../../base/loop-turns.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';
import type { SegmentCatalog } from './catalog.js';
import type { Retention } from './retention.js';
import { decisionOn } from './targets.js';

/**
 * Finds the used segments that a drop rule meets and those that newer ones hide for good: looks at those that were
 * touched, and now and then, when the clock or the rules have moved on, at all of them.
 */
export class Unneeded {
  readonly #catalog: SegmentCatalog;
  readonly #touched = new Map<string, SegmentDescriptor>();
  #isAllDue = true;
  #takesHidden = false;

  constructor(catalog: SegmentCatalog) {
    this.#catalog = catalog;
  }

  touch(segments: ReadonlyMap<string, SegmentDescriptor>): void {
    for (const [id, segment] of segments) this.#touched.set(id, segment);
  }

  touchDataSource(dataSource: string): void {
    for (const segment of this.#catalog.used(dataSource)) this.#touched.set(idTextOf(segment), segment);
  }

  touchAll(): void {
    this.#isAllDue = true;
  }

  /** Looks at all again, because what was found could not be marked. @throws the error */
  failed(error: unknown): never {
    this.touchAll();
    throw error;
  }

  /**
   * Ids by datasource; gives the event loop its turns.
   * @param takesHidden  whether hidden ones count
   */
  async find(retention: Retention, nowMs: number, takesHidden: boolean): Promise<ReadonlyMap<string, readonly string[]>> {
    const turns = new LoopTurns();
    const found = new Map<string, string[]>();
    const isAll = this.#isAllDue || takesHidden !== this.#takesHidden;
    const touched = [...this.#touched.values()];
    this.#touched.clear();
    this.#isAllDue = false;
    this.#takesHidden = takesHidden;
    for (const segment of isAll ? this.#catalog.allUsed() : touched) {
      if (turns.isDue) await turns.give();
      const { dataSource } = segment.id;
      if (!this.#catalog.isUsed(segment)) continue;
      const isDropped = decisionOn(segment, { catalog: this.#catalog, retention, nowMs }).kind === 'drop';
      if (!isDropped && !(takesHidden && this.#catalog.isHiddenForGood(segment))) continue;
      const ids = found.get(dataSource) ?? [];
      ids.push(idTextOf(segment));
      found.set(dataSource, ids);
    }
    return found;
  }
}
