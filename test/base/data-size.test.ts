import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dataBytes } from '../../src/base/data-size.js';

const sizes = suite('bytes of plain data');

sizes('contents count, at any depth, and in every kind of container', () => {
  const text = 'x'.repeat(1000);
  for (const data of [text, [text], { a: { b: text } }, new Map([[text, 1]]), new Set([text]), [new Uint8Array(2000)]]) {
    const bytes = dataBytes(data);
    assert.ok(bytes >= 2000 && bytes < 2200, `${bytes}`);
  }
});

sizes('shared objects count once, and cycles end', () => {
  const shared = { text: 'x'.repeat(1000) };
  assert.ok(dataBytes([shared, shared, shared]) < 2 * dataBytes([shared]));
  const circle: unknown[] = [];
  circle.push(circle);
  assert.ok(dataBytes(circle) > 0);
});

sizes('data may be nested as deeply as it likes', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 200_000; level++) deep = [deep];
  assert.ok(dataBytes(deep) > 200_000);
});

sizes.run();
