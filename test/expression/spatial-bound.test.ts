import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { contains, parseCoordinates, type SpatialBound } from '../../src/expression/spatial-bound.js';

const areas = suite('areas of spatial filters');

// A triangle with a right angle at the origin, and a square with a notch from above down to its middle.
const triangle: SpatialBound = { type: 'polygon', x: [0, 4, 0], y: [0, 0, 4] };
const notched: SpatialBound = { type: 'polygon', x: [0, 4, 4, 2, 0], y: [0, 0, 4, 2, 4] };
const rectangle: SpatialBound = { type: 'rectangular', lower: [1, 2], upper: [3, 4] };
const circle: SpatialBound = { type: 'radius', center: [1, 1], radius: 5, meters: false };
// A degree of latitude is 6371 km times pi / 180, 111.19 km; one of longitude half of that at 60 degrees north.
const nearby: SpatialBound = { type: 'radius', center: [60, 10], radius: 56_000, meters: true };

for (const { name, bound, point, inside } of [
  { name: 'a corner of a rectangle', bound: rectangle, point: [1, 4], inside: true },
  { name: 'beside a rectangle', bound: rectangle, point: [1, 4.5], inside: false },
  { name: 'too few coordinates', bound: rectangle, point: [2], inside: false },
  { name: 'a coordinate too many', bound: rectangle, point: [2, 3, 99], inside: true },
  { name: 'on a circle', bound: circle, point: [4, 5], inside: true },
  { name: 'beyond a circle', bound: circle, point: [5, 5], inside: false },
  { name: 'one degree east, in reach', bound: nearby, point: [60, 11], inside: true },
  { name: 'one degree north, out of reach', bound: nearby, point: [61, 10], inside: false },
  { name: 'in a triangle', bound: triangle, point: [1, 1], inside: true },
  { name: 'on its long side', bound: triangle, point: [2, 2], inside: true },
  { name: 'on its corner', bound: triangle, point: [0, 4], inside: true },
  { name: 'beyond its long side', bound: triangle, point: [2.1, 2], inside: false },
  { name: 'left of it, level with a corner', bound: triangle, point: [-1, 0], inside: false },
  { name: 'right of it, level with a corner', bound: triangle, point: [5, 0], inside: false },
  { name: 'in the notch', bound: notched, point: [2, 3], inside: false },
  { name: 'at the bottom of the notch', bound: notched, point: [2, 2], inside: true },
  { name: 'beside the notch', bound: notched, point: [0.5, 3], inside: true },
  { name: 'level with the bottom of the notch', bound: notched, point: [3, 2], inside: true },
])
  areas(name, () => assert.is(contains(bound, point), inside));

for (const { text, point } of [
  { text: '1,2', point: [1, 2] },
  { text: '1.5, -2e3,0', point: [1.5, -2000, 0] },
  { text: '7', point: [7] },
  { text: '1,', point: undefined },
  { text: '', point: undefined },
  { text: 'a,b', point: undefined },
  { text: 'Infinity,1', point: undefined },
])
  areas(`coordinates of "${text}"`, () => assert.equal(parseCoordinates(text), point));

areas.run();
