import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TextBytes } from '../../src/results/text-bytes.js';
import { caseCount } from '../case-count.js';

const writing = suite('text as bytes');

const piece = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

writing('pieces become one text, from whole texts, parts of others and single characters', () =>
  fc.assert(
    fc.property(fc.array(fc.array(piece, { maxLength: 6 }), { maxLength: 4 }), fc.nat(64), (texts, firstBytes) => {
      const out = new TextBytes(firstBytes);
      for (const pieces of texts) {
        const other = new TextBytes(0);
        for (const text of pieces) {
          out.text(text);
          out.code(0x2c);
          const start = other.length;
          other.text(text);
          out.part(other, start, other.length);
        }
        const expected = pieces.map((text) => `${text},${text}`).join('');
        const taken = out.take();
        assert.equal(Buffer.from(taken), Buffer.from(expected));
        assert.is(out.length, 0);
        out.text(expected);
        assert.equal(taken, new Uint8Array(Buffer.from(expected)), 'what was taken stays');
        assert.is(out.takeText(), Buffer.from(expected).toString());
      }
    }),
    { numRuns: caseCount(200) },
  ),
);
writing.run();
