// Collects request bodies within the limits on their sizes.

import { ServiceError } from '../base/errors.js';

/** Limit on the total bytes of request bodies in flight in a process, counted as sent and as unpacked. */
export class BodyBudget {
  readonly #bytesMax: number;
  #takenBytes = 0;

  /** @param bytesMax  `svc.server.http.maxRequestBytesInFlight` */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  get takenBytes(): number {
    return this.#takenBytes;
  }

  /** @throws ServiceError `capacity_exceeded` when they do not fit; nothing is taken then */
  take(bytes: number): void {
    if (this.#takenBytes + bytes > this.#bytesMax)
      throw new ServiceError(
        'capacity_exceeded',
        `the request bodies being answered would exceed svc.server.http.maxRequestBytesInFlight (${this.#bytesMax} bytes); try again later`,
      );
    this.#takenBytes += bytes;
  }

  giveBack(bytes: number): void {
    this.#takenBytes -= bytes;
  }
}

/** The body of one request while it comes in. Of one that exceeds a limit nothing is kept. */
export class BodyIntake {
  readonly #bytesMax: number;
  readonly #budget: BodyBudget;
  #parts: Buffer[] = [];
  #sizeBytes = 0;
  #takenBytes = 0;

  /** @param bytesMax  `svc.server.http.maxRequestBytes` */
  constructor(bytesMax: number, budget: BodyBudget) {
    this.#bytesMax = bytesMax;
    this.#budget = budget;
  }

  /**
   * Called once with the length that the request declares; 0 when it does not.
   * @throws ServiceError `body_too_large`
   */
  expect(declaredBytes: number): void {
    if (declaredBytes <= this.#bytesMax) return;
    throw new ServiceError('body_too_large', `the request body is larger than svc.server.http.maxRequestBytes (${this.#bytesMax} bytes)`);
  }

  /**
   * @param lent  copied
   * @throws ServiceError `body_too_large`, `capacity_exceeded`
   */
  add(lent: ArrayBuffer): void {
    try {
      this.#sizeBytes += lent.byteLength;
      this.expect(this.#sizeBytes);
      this.take(lent.byteLength);
    } catch (error) {
      this.#parts = [];
      throw error;
    }
    // Small ones side by side into memory that buffers share.
    this.#parts.push(Buffer.from(new Uint8Array(lent)));
  }

  /** Once, when all of it was added. */
  whole(): Buffer {
    const parts = this.#parts;
    this.#parts = [];
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }

  /**
   * More that is kept for this request, such as its unpacked body.
   * @throws ServiceError `capacity_exceeded`, or `body_too_large` where it would not fit alone either
   */
  take(bytes: number): void {
    const { bytesMax } = this.#budget;
    if (this.#takenBytes + bytes > bytesMax)
      throw new ServiceError(
        'body_too_large',
        `the request body alone is larger than svc.server.http.maxRequestBytesInFlight (${bytesMax} bytes)`,
      );
    this.#budget.take(bytes);
    this.#takenBytes += bytes;
  }

  /** Returns the bytes to the budget once nobody holds the body any more. */
  giveBack(): void {
    this.#budget.giveBack(this.#takenBytes);
    this.#takenBytes = 0;
    this.#parts = [];
  }
}
