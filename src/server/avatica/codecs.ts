// The codecs of Avatica by request path.

import { JSON_CODEC } from './json-codec.js';
import { PROTOBUF_CODEC } from './protobuf-codec.js';
import type { AvaticaCodec } from './protocol.js';

/** Codec (JSON or protobuf) by request path. */
export const AVATICA_CODECS: Readonly<Record<string, AvaticaCodec>> = {
  '/svc/v2/sql/avatica': JSON_CODEC,
  '/svc/v2/sql/avatica-protobuf': PROTOBUF_CODEC,
};
