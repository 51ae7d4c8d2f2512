// Strings as UTF-8 that keeps halves of surrogate pairs apart (WTF-8), for places that are read by ourselves only.

const HALVES = /\p{Surrogate}/u;
const ENCODED_HALVES = /(\xed[\xa0-\xbf][\x80-\xbf])/;

/** UTF-8; a half of a surrogate pair by itself takes three bytes of its own, as many as the character that would replace it. */
export function encodeWtf8(text: string): Buffer {
  if (!HALVES.test(text)) return Buffer.from(text);
  return Buffer.concat(
    Array.from(text, (character) => {
      if (!HALVES.test(character)) return Buffer.from(character);
      const code = character.charCodeAt(0);
      return Buffer.of(0xe0 | (code >>> 12), 0x80 | ((code >>> 6) & 0x3f), 0x80 | (code & 0x3f));
    }),
  );
}

export function decodeWtf8(bytes: Buffer): string {
  const text = bytes.toString();
  if (!text.includes('\ufffd')) return text;
  const parts = bytes.toString('latin1').split(ENCODED_HALVES);
  return parts
    .map((part, index) =>
      index % 2 === 0
        ? Buffer.from(part, 'latin1').toString()
        : String.fromCharCode(0xd000 | ((part.charCodeAt(1) & 0x3f) << 6) | (part.charCodeAt(2) & 0x3f)),
    )
    .join('');
}
