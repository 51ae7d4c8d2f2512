// Finds the input source or format that `type` names, for task specs.

import type { ObjectReader } from '../base/json-reader.js';

interface Kind<Opened> {
  readonly type: string;
  open(fields: ObjectReader): Opened;
}

/**
 * Opens what `type` names among `kinds`.
 * @param documented  Druid's other kinds: they are refused as unsupported, not as unknown
 * @throws            ServiceError that names the field
 */
export function parseKind<Opened>(fields: ObjectReader, kinds: readonly Kind<Opened>[], documented: readonly string[]): Opened {
  const type = fields.type(
    kinds.map((kind) => kind.type),
    { documented },
  );
  const kind = kinds.find((row) => row.type === type);
  if (kind === undefined) throw fields.unsupported('type');
  return kind.open(fields);
}
