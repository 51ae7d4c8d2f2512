// Finds the input source or format that `type` names, for task specs.

import type { ObjectReader } from '../base/json-reader.js';
import { own } from '../base/names.js';

interface Kind<Opened> {
  readonly type: string;
  open(fields: ObjectReader): Opened;
}

/**
 * Opens what `type` names among `kinds`.
 * @param documented  Druid's other kinds, each with the reason why it is refused as unsupported
 * @throws            ServiceError that names the field
 */
export function parseKind<Opened>(
  fields: ObjectReader,
  kinds: readonly Kind<Opened>[],
  documented: Readonly<Record<string, string>>,
): Opened {
  const written = fields.raw('type');
  const reason = typeof written === 'string' ? own(documented, written) : undefined;
  if (reason !== undefined) throw fields.unsupported('type', `${reason}; accepted: ${kinds.map(({ type }) => type).join(', ')}`);
  const type = fields.type(kinds.map((kind) => kind.type));
  const kind = kinds.find((row) => row.type === type);
  if (kind === undefined) throw fields.unsupported('type');
  return kind.open(fields);
}
