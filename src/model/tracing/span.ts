// Spans of traces: what the roles tell of a query to whoever collects them.

/** Place in a trace, as W3C writes it into the header `traceparent`. */
export interface TraceParent {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  /** Whether spans of this trace are recorded. */
  readonly isSampled: boolean;
}

/** The work of one role for a query; `end` exactly once. */
export interface Span {
  /** Header for whoever works for it. */
  readonly traceparent: string;
  /** @param errorCode  undefined: it has succeeded */
  end(attributes: Readonly<Record<string, string>>, errorCode: string | undefined): void;
}

export interface Tracer {
  /** @param parent  the header that came with the request; one that cannot be read begins a trace of its own */
  begin(name: string, parent: string | undefined): Span;
}

const WRITTEN = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Bit of the flags that says that the trace is recorded. */
const SAMPLED = 1;

/** undefined for what is not such a header; versions after the first may have more fields. */
export function parseTraceparent(written: string): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = WRITTEN.exec(written) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}

export const writeTraceparent = ({ traceId, spanId, isSampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
