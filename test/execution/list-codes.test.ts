import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ListCodes } from '../../src/execution/block/list-codes.js';

const codes = suite('codes of lists');

codes('are those of a map by the ids as a text, for few and for very many lists', () => {
  const lists = Array.from({ length: 60_000 }, (_, row) =>
    Array.from({ length: (row * 7) % 6 }, (_each, place) => (row % 3 === 0 ? (row + place) % 5 : (row * 7919 + place * 104_729) % 4099)),
  );
  // All ids of a block lie one behind the other.
  const ids = Uint32Array.from(lists.flat());
  const known = new ListCodes();
  const expected = new Map<string, number>([['', 0]]);
  let from = 0;
  for (const list of lists) {
    const name = list.join();
    const code = expected.get(name) ?? expected.size;
    expected.set(name, code);
    assert.is(known.codeOf(ids, from, from + list.length), code);
    from += list.length;
  }
  assert.is(known.count, expected.size);
  for (const [name, code] of expected) assert.is(known.idsOf(code).join(), name);
});

codes.run();
