// Spans sent to a collector of OpenTelemetry: OTLP over HTTP, as JSON.

import { randomBytes } from 'node:crypto';
import type { Log } from '../../base/log.js';
import { parseTraceparent, type Span, type Tracer, writeTraceparent } from '../../model/tracing/span.js';

/** Time in which spans are gathered before they are sent. */
const GATHER_MS = 2000;
/** Spans that wait; those that come while there are so many are left out, and counted. */
const WAITING_MAX = 4096;
const SENT_TOGETHER = 512;
const SEND_TIMEOUT_MS = 10_000;

/** Numbers of OTLP. */
const KIND_SERVER = 2;
const STATUS = { unset: 0, error: 2 } as const;

export interface OtlpOptions {
  /** Address that spans are posted to. */
  readonly endpoint: string;
  /** `host:port` and roles of this process. */
  readonly instance: string;
  readonly version: string;
  readonly log: Log;
}

/** Gathers spans as they end, and sends them; a collector that is away costs spans, and nothing else. */
export class OtlpTracer implements Tracer {
  readonly #options: OtlpOptions;
  readonly #waiting: object[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #isFailing = false;
  /** Spans that were left out since the log last told of them. */
  #leftOut = 0;

  constructor(options: OtlpOptions) {
    this.#options = options;
  }

  begin(name: string, parent: string | undefined): Span {
    const above = parent === undefined ? undefined : parseTraceparent(parent);
    const traceId = above?.traceId ?? randomBytes(16).toString('hex');
    const spanId = randomBytes(8).toString('hex');
    const isSampled = above?.isSampled ?? true;
    const startNs = nowNs();
    return {
      traceparent: writeTraceparent({ traceId, spanId, isSampled }),
      end: (attributes, errorCode) => {
        if (!isSampled) return;
        this.#add({
          ...{ traceId, spanId, ...(above === undefined ? {} : { parentSpanId: above.spanId }) },
          ...{ name, kind: KIND_SERVER, startTimeUnixNano: startNs, endTimeUnixNano: nowNs() },
          attributes: attributesOf(attributes),
          status: errorCode === undefined ? { code: STATUS.unset } : { code: STATUS.error, message: errorCode },
        });
      },
    };
  }

  /** Sends what is left. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#send();
    await this.#sending;
  }

  #add(span: object): void {
    if (this.#waiting.length >= WAITING_MAX) {
      this.#leftOut++;
      return;
    }
    this.#waiting.push(span);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#send();
    }, GATHER_MS).unref();
  }

  /** One request after the other. */
  #send(): void {
    this.#sending = this.#sending.then(async () => {
      while (this.#waiting.length > 0) await this.#post(this.#waiting.splice(0, SENT_TOGETHER));
      if (this.#leftOut > 0) this.#options.log.warn('spans were left out: they end faster than they are sent', { spans: this.#leftOut });
      this.#leftOut = 0;
    });
  }

  async #post(spans: readonly object[]): Promise<void> {
    const { endpoint, instance, version, log } = this.#options;
    const resource = attributesOf({ 'service.name': 'dolmen', 'service.instance.id': instance, 'service.version': version });
    const body = JSON.stringify({
      resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope: { name: 'dolmen' }, spans }] }],
    });
    try {
      const headers = { 'Content-Type': 'application/json' };
      const answer = await fetch(endpoint, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
        redirect: 'error',
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`it answers ${answer.status}`);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn('spans cannot be sent (svc.emitter.opentelemetry.endpoint); those of now are lost', { error });
      this.#isFailing = true;
    }
  }
}

const attributesOf = (attributes: Readonly<Record<string, string>>): readonly object[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } }));

function nowNs(): string {
  return String(BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n);
}
