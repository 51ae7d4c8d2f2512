import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { SegmentId } from '../../src/model/segment.js';
import { parseSegmentId, segmentIdText } from '../../src/model/segment-id.js';

const DAY = { start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) };
const VERSION = '2026-01-01T00:00:00.000Z';
const DAY_TEXT = '2015-09-12T00:00:00.000Z_2015-09-13T00:00:00.000Z';

const printed: { id: SegmentId; text: string }[] = [
  { id: { dataSource: 'wiki', interval: DAY, version: VERSION, partitionNumber: 0 }, text: `wiki_${DAY_TEXT}_${VERSION}` },
  { id: { dataSource: 'wiki', interval: DAY, version: VERSION, partitionNumber: 3 }, text: `wiki_${DAY_TEXT}_${VERSION}_3` },
  { id: { dataSource: 'a_b__c_', interval: DAY, version: VERSION, partitionNumber: 12 }, text: `a_b__c__${DAY_TEXT}_${VERSION}_12` },
  {
    id: { dataSource: `x_${VERSION}`, interval: DAY, version: VERSION, partitionNumber: 0 },
    text: `x_${VERSION}_${DAY_TEXT}_${VERSION}`,
  },
  {
    id: { dataSource: `x_${VERSION}_${VERSION}`, interval: DAY, version: VERSION, partitionNumber: 1 },
    text: `x_${VERSION}_${VERSION}_${DAY_TEXT}_${VERSION}_1`,
  },
  { id: { dataSource: 'ünï-\n🌙', interval: DAY, version: VERSION, partitionNumber: 0 }, text: `ünï-\n🌙_${DAY_TEXT}_${VERSION}` },
  {
    id: { dataSource: 'wiki', interval: ETERNITY, version: VERSION, partitionNumber: 0 },
    text: `wiki_-146136543-09-08T08:23:32.096Z_146140482-04-24T15:36:27.903Z_${VERSION}`,
  },
];

const test = suite('segment ids');

for (const { id, text } of printed) {
  test(`prints and reads ${JSON.stringify(text)}`, () => {
    assert.is(segmentIdText(id), text);
    assert.equal(parseSegmentId(text), id);
  });
}

const refused = [
  '',
  'wiki',
  `_${DAY_TEXT}_${VERSION}`,
  `wiki_${DAY_TEXT}`,
  `wiki_${DAY_TEXT}_`,
  `wiki_${DAY_TEXT}_${VERSION}_0`,
  `wiki_${DAY_TEXT}_${VERSION}_03`,
  `wiki_${DAY_TEXT}_${VERSION}_-1`,
  `wiki_${DAY_TEXT}_${VERSION}_3_4`,
  `wiki_${DAY_TEXT}_${VERSION}_99999999999999999999`,
  `wiki_2015-09-12_2015-09-13_${VERSION}`,
  `wiki_2015-09-12T00:00:00.000Z_2015-02-30T00:00:00.000Z_${VERSION}`,
  `wiki_2015-09-13T00:00:00.000Z_2015-09-12T00:00:00.000Z_${VERSION}`,
];
for (const text of refused) test(`does not read ${JSON.stringify(text)}`, () => assert.is(parseSegmentId(text), undefined));

test.run();
