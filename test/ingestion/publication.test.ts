import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { publishSegments } from '../../src/ingestion/report/publication.js';
import type { PublishRequest } from '../../src/model/publication.js';

const REQUEST: PublishRequest = { taskId: 't', dataSource: 'ds', segments: [], mode: { kind: 'append' } };

const CASES = [
  { name: 'not waited for', waitMs: 0, tookMs: 70, asked: [undefined, undefined], availability: { isConfirmed: false, waitMs: 0 } },
  { name: 'served in time', waitMs: 100, tookMs: 70, asked: [true, 100], availability: { isConfirmed: true, waitMs: 70 } },
  { name: 'not served in time', waitMs: 100, tookMs: 130, asked: [true, 100], availability: { isConfirmed: false, waitMs: 100 } },
];

const publication = suite('publication');
for (const { name, waitMs, tookMs, asked, availability } of CASES)
  publication(`segments that are ${name}`, async () => {
    let clock = 1000;
    const requests: PublishRequest[] = [];
    const publish = async (request: PublishRequest) => {
      requests.push(request);
      clock += tookMs;
      return ['a'];
    };
    assert.equal(await publishSegments({ publish, now: () => clock }, REQUEST, waitMs), { ids: ['a'], availability });
    assert.equal([requests[0]?.waitsUntilLoaded, requests[0]?.loadWaitMs], asked);
  });
publication.run();
