// The network of a simulation: calls between roles as messages with delay, loss and partitions.

import { Canceller } from '../../src/base/cancel-signal.js';
import { ServiceError } from '../../src/base/errors.js';
import { answerCall } from '../../src/cluster/rpc/answer.js';
import type { RpcRole, RpcServices } from '../../src/cluster/rpc/descriptions.js';
import type { ClientRequest, ClientResponse, HttpClient } from '../../src/cluster/rpc/http-client.js';
import { REMAINING_HEADER } from '../../src/cluster/rpc/message.js';
import type { Process, World } from './world.js';

interface Offer {
  readonly process: Process;
  readonly service: RpcServices[RpcRole];
}

/** Delivers the requests of `remoteService` to `answerCall`, and its replies back. */
export class Network {
  readonly #world: World;
  readonly #offers = new Map<string, Offer>();
  /** Ways, as `from>to`, on which nothing comes through until an instant. */
  readonly #cut = new Map<string, number>();
  /** Share of messages that are lost. */
  loss = 0;
  /** Share of messages that take long. */
  slowness = 0;

  constructor(world: World) {
    this.#world = world;
  }

  offer<Role extends RpcRole>(role: Role, process: Process, service: RpcServices[Role]): void {
    this.#offers.set(`${role}/${process.name}`, { process, service });
  }

  cut(from: string, to: string, untilMs: number): void {
    this.#cut.set(`${from}>${to}`, untilMs);
  }

  heal(): void {
    this.#cut.clear();
    this.loss = 0;
    this.slowness = 0;
  }

  /** The client of a process. */
  clientOf(from: Process): Pick<HttpClient, 'send'> {
    return { send: (request) => this.#send(from, request) };
  }

  #isLost(from: string, to: string): boolean {
    return (this.#cut.get(`${from}>${to}`) ?? 0) > this.#world.nowMs || this.#world.chance.is(this.loss);
  }

  #delay(): number {
    const { chance } = this.#world;
    return chance.is(this.slowness) ? chance.between(50, 4000) : chance.between(1, 12);
  }

  #send(from: Process, request: ClientRequest): Promise<ClientResponse> {
    const { host, path, body, headers, signal } = request;
    const [, , , role = '', method = ''] = path.split('/');
    return new Promise((resolve, reject) => {
      const refuse = (delayMs: number, why: string): void =>
        this.#world.after(delayMs, () => from.deliver(() => reject(new ServiceError('unavailable', `cannot reach ${host}: ${why}`))));
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      if (this.#isLost(from.name, host)) return refuse(this.#world.chance.between(500, 6000), 'no answer');
      this.#world.after(this.#delay(), () => {
        const offer = this.#offers.get(`${role}/${host}`);
        if (offer?.process.isAlive !== true) return refuse(this.#delay(), 'connection refused');
        let isAnswered = false;
        // A connection breaks with its process.
        offer.process.onEnd(() => {
          if (!isAnswered) refuse(this.#delay(), 'connection reset');
        });
        offer.process.deliver(() => {
          this.#world.note(`${from.name} asks ${host} for ${method}`);
          const call = { method, body: body ?? new Uint8Array(), remainingMs: Number(headers[REMAINING_HEADER]), signal: new Canceller() };
          void this.#answer(offer, role as RpcRole, call).then((chunks) => {
            isAnswered = true;
            if (this.#isLost(host, from.name)) refuse(this.#world.chance.between(500, 6000), 'no answer');
            else this.#world.after(this.#delay(), () => from.deliver(() => resolve({ status: 200, headers: {}, body: streamOf(chunks) })));
          });
        });
      });
    });
  }

  async #answer(
    { process, service }: Offer,
    role: RpcRole,
    call: { method: string; body: Uint8Array; remainingMs: number; signal: Canceller },
  ): Promise<readonly Uint8Array[]> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of answerCall(role, service, call, process.clock)) chunks.push(chunk);
    return chunks;
  }
}

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
