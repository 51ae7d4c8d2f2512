// Memory that answers of a broker are read into, each a length of 4 bytes and that many bytes.

import { Buffer } from 'node:buffer';

/** Bytes of an answer: a fetch has 16 MiB, or one batch, which brokers bound. */
const ANSWER_BYTES_MAX = 2 ** 29;
const LENGTH_BYTES = 4;
/** Bytes that are read before the length of an answer is known. */
const HEAD_BYTES = 2 ** 14;

export interface AnswerListener {
  /** Some bytes have come. */
  readonly more: () => void;
  /** An answer is whole; nobody else has its memory. */
  readonly answer: (bytes: Buffer) => void;
  /** No answer has such a length. */
  readonly refuse: (size: number) => void;
}

/**
 * Tells a socket where to read to. Bytes whose answer is not known come into a head that is used again and again; the rest of an answer
 * comes into its own memory, which it is not copied from.
 */
export class AnswerBytes {
  readonly #head = Buffer.allocUnsafeSlow(HEAD_BYTES);
  /** Bytes of the head that have come. */
  #filled = 0;
  /** The answer that comes; null: its length is not known. */
  #answer: Buffer | null = null;
  #answerFilled = 0;
  #listener: AnswerListener = { more: () => undefined, answer: () => undefined, refuse: () => undefined };

  listen(listener: AnswerListener): void {
    this.#listener = listener;
  }

  /** Memory for the next bytes. */
  room(): Buffer {
    return this.#answer === null ? this.#head.subarray(this.#filled) : this.#answer.subarray(this.#answerFilled);
  }

  /** Takes note that the first bytes of the room have come. */
  received(count: number): void {
    this.#listener.more();
    if (this.#answer === null) {
      this.#filled += count;
      this.#takeHead();
      return;
    }
    this.#answerFilled += count;
    this.#finish();
  }

  /** Answers that have begun in the head. */
  #takeHead(): void {
    let at = 0;
    while (this.#answer === null && this.#filled - at >= LENGTH_BYTES) {
      const size = this.#head.readInt32BE(at);
      at += LENGTH_BYTES;
      if (size < LENGTH_BYTES || size > ANSWER_BYTES_MAX) {
        this.#filled = 0;
        return this.#listener.refuse(size);
      }
      this.#answer = Buffer.allocUnsafeSlow(size);
      this.#answerFilled = this.#head.copy(this.#answer, 0, at, this.#filled);
      at += this.#answerFilled;
      this.#finish();
    }
    this.#head.copyWithin(0, at, this.#filled);
    this.#filled -= at;
  }

  #finish(): void {
    const answer = this.#answer;
    if (answer === null || this.#answerFilled < answer.length) return;
    this.#answer = null;
    this.#listener.answer(answer);
  }
}
