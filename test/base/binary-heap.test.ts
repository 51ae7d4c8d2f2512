import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BinaryHeap } from '../../src/base/binary-heap.js';

const heaps = suite('binary heap');

const less = (a: number, b: number): number => b - a;

function drained(heap: BinaryHeap<number>): number[] {
  const all: number[] = [];
  for (let first = heap.first; first !== undefined; first = heap.first) {
    all.push(first);
    heap.dropFirst();
  }
  return all;
}

const given = [5, 3, 8, 3, 1, 9, 0, 7, 2, 2, 6];
const sorted = [0, 1, 2, 2, 3, 3, 5, 6, 7, 8, 9];

heaps('gives its items in order, however they came', () => {
  assert.equal(drained(new BinaryHeap(given, less)), sorted);
  const pushed = new BinaryHeap<number>([], less);
  for (const item of given) pushed.push(item);
  assert.equal(drained(pushed), sorted);
  assert.equal(drained(new BinaryHeap<number>([], less)), []);
});

heaps('replacing the first keeps the rest', () => {
  const heap = new BinaryHeap(given, less);
  heap.replaceFirst(4);
  assert.equal(drained(heap), [1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9]);
});

heaps('an item that has changed is put in order again, found by where it was last moved to', () => {
  const values = [...given];
  const places: number[] = [];
  const heap = new BinaryHeap(
    values.keys(),
    (a, b) => (values[b] ?? 0) - (values[a] ?? 0),
    (index, place) => {
      places[index] = place;
    },
  );
  for (const [index, value] of [
    [5, -1],
    [6, 10],
    [0, 4],
  ] as const) {
    values[index] = value;
    heap.update(places[index]);
  }
  assert.equal(
    drained(heap).map((index) => values[index]),
    [-1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 10],
  );
});

heaps.run();
