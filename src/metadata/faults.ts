// Stored documents that could not be read and were set aside.

import { parseJsonWithDoubles } from '../base/json.js';

/** Position of a stored document. */
export interface StoredPlace {
  readonly table: string;
  readonly column: string;
  /** Key of its row. */
  readonly key: string;
}

/** A stored document that cannot be read and was set aside. */
export interface MetadataFault extends StoredPlace {
  readonly message: string;
}

/** Distinct faults that are listed; of more, the newest. */
const FAULTS_MAX = 1000;

/**
 * Reads the JSON documents of the metadata store. One that cannot be read, or is not what its column holds, is set aside
 * and listed; the rows beside it are read as always. A fault is struck off the list when its document can be read again.
 */
export class MetadataFaults {
  readonly #found = new Map<string, MetadataFault>();
  #listener: (fault: MetadataFault) => void = () => undefined;

  /** Oldest first. */
  list(): readonly MetadataFault[] {
    return [...this.#found.values()];
  }

  /** Calls back once for each new fault; the last listener counts. */
  onFault(listener: (fault: MetadataFault) => void): void {
    this.#listener = listener;
  }

  /**
   * @param parse  throws for JSON that is not such a document
   * @param readJson  for documents with integers that a double cannot hold
   * @returns      undefined when it was set aside
   */
  read<Value>(
    place: StoredPlace,
    text: string,
    parse: (value: unknown) => Value,
    readJson: (text: string) => unknown = parseJsonWithDoubles,
  ): Value | undefined {
    try {
      const value = parse(readJson(text));
      if (this.#found.size > 0) this.#found.delete(idOf(place));
      return value;
    } catch (error) {
      const id = idOf(place);
      const fault = { ...place, message: error instanceof Error ? error.message : String(error) };
      const isNews = this.#found.get(id)?.message !== fault.message;
      this.#found.set(id, fault);
      for (const oldest of this.#found.keys()) {
        if (this.#found.size <= FAULTS_MAX) break;
        this.#found.delete(oldest);
      }
      if (isNews) this.#listener(fault);
      return undefined;
    }
  }
}

function idOf({ table, column, key }: StoredPlace): string {
  return JSON.stringify([table, column, key]);
}
