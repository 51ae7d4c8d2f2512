import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeWtf8, encodeWtf8 } from '../../src/execution/block/wtf8.js';

const wtf8 = suite('strings with halves of surrogate pairs');

wtf8('are read as they were written, whatever their code units', () => {
  const units = fc.array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd700, max: 0xe0ff }), fc.constant(0xfffd)));
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      assert.is(decodeWtf8(encodeWtf8(text)), text);
      assert.is(encodeWtf8(text).length, Buffer.byteLength(text));
    }),
  );
});

wtf8('are UTF-8 where they have none', () => {
  for (const text of ['', 'abc', 'ä\u0800', '😀', '\ufffd']) assert.equal(encodeWtf8(text), Buffer.from(text));
});

wtf8.run();
