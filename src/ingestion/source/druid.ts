// The input source `druid`.

import { parseInterval } from '../../base/interval.js';
import { INERT_KEYS } from '../task-spec/inert-keys.js';
import { filterOf } from '../task-spec/native-parts.js';
import type { InputSourceKind, StoredRows } from './source-kind.js';

/** Rows of a datasource, their time as the number `__time` of milliseconds. */
export const DRUID: InputSourceKind = {
  type: 'druid',
  open(fields) {
    fields.accept(['dataSource', 'interval', 'filter', 'segments'], INERT_KEYS.druidSource);
    if (fields.has('segments')) throw fields.unsupported('segments', 'give an interval');
    const dataSource = fields.string('dataSource');
    const text = fields.string('interval');
    const interval = parseInterval(text);
    if (interval === undefined) throw fields.invalid('interval', `expected an interval such as 2015-09-12/2015-09-13, found "${text}"`);
    const rows: StoredRows = { name: `datasource ${dataSource}`, dataSource, interval, filter: filterOf(fields, 'filter') };
    return { type: 'druid', needsFormat: false, parts: async () => [rows] };
  },
};
