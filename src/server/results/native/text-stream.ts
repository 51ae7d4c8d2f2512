// Streams text in pieces.

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Characters after which a piece is sent off: well under a millisecond of work. */
const PIECE_CHARACTERS = 32_768;

/** Collects text into pieces and lets the event loop turn between them. */
export class TextPieces {
  #text = '';

  add(text: string): void {
    this.#text += text;
  }

  /** Whether there is enough text for a piece: take it, then let others run. */
  get isFull(): boolean {
    return this.#text.length >= PIECE_CHARACTERS;
  }

  async take(): Promise<string> {
    const text = this.#text;
    this.#text = '';
    await nextTurn();
    return text;
  }

  /** The remaining bytes at the end. */
  rest(): string {
    return this.#text;
  }
}

/** JSON without spaces to indented JSON, as it streams by. */
export async function* indentJson(pieces: AsyncIterable<string>): AsyncIterable<string> {
  let depth = 0;
  let isString = false;
  let isEscaped = false;
  /** An opening bracket whose first element, or closing bracket, is still to come. */
  let isOpen = false;
  const lineBreak = (): string => `\n${'  '.repeat(depth)}`;
  for await (const piece of pieces) {
    let text = '';
    for (const character of piece) {
      if (isString) {
        text += character;
        if (isEscaped) isEscaped = false;
        else if (character === '\\') isEscaped = true;
        else if (character === '"') isString = false;
        continue;
      }
      const closes = character === ']' || character === '}';
      if (closes) depth--;
      if (closes ? !isOpen : isOpen) text += lineBreak();
      isOpen = character === '[' || character === '{';
      if (isOpen) depth++;
      text += character;
      if (character === '"') isString = true;
      else if (character === ':') text += ' ';
      else if (character === ',') text += lineBreak();
    }
    yield text;
  }
}
