// Segments that servers hold and no target names.

import { own } from '../../base/names.js';
import { parseSegmentId } from '../../model/segment-id.js';

/** Segments that servers hold beyond the targets, with the revision at which that was first seen. */
export class Unwanted {
  readonly #ids = new Map<string, { readonly dataSource: string; readonly revision: number }>();

  get size(): number {
    return this.#ids.size;
  }

  /** @param isUnwanted  some server holds it, and it is no target */
  note(id: string, isUnwanted: boolean, revision: number): void {
    if (!isUnwanted) this.#ids.delete(id);
    else if (!this.#ids.has(id)) this.#ids.set(id, { dataSource: parseSegmentId(id)?.dataSource ?? id, revision });
  }

  /**
   * Segments that every broker has moved on from: no view and no running query can read them.
   * @param inUse  oldest revisions in use, of each broker; a broker that does not answer (null) may still read anything
   */
  unread(inUse: readonly (Readonly<Record<string, number>> | null)[]): readonly string[] {
    return [...this.#ids].flatMap(([id, { dataSource, revision }]) =>
      inUse.every((oldest) => oldest !== null && (own(oldest, dataSource) ?? revision) >= revision) ? [id] : [],
    );
  }
}
