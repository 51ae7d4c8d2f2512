import { type AddressInfo, createServer, connect as dial, type Server, type Socket } from 'node:net';

/** A direction in which nothing arrives: what the caller sends, what it is sent, or both. */
export type Cut = 'sent' | 'received' | 'both';

/**
 * A way from one process to one port of another, which can be cut. While it is, bytes and ends of connections wait where they are, and
 * nobody is told: connections stay open, as behind a network that drops packets. Once it is mended they arrive, late and in order.
 */
export class Link {
  readonly #server: Server;
  /** Each pair of sockets reads from one and writes to the other. */
  readonly #ways = new Set<{ readonly from: Socket; readonly to: Socket; readonly cut: 'sent' | 'received' }>();
  #cut: Cut | undefined;

  private constructor(target: number) {
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (caller) => {
      const called = dial({ port: target, host: '127.0.0.1', allowHalfOpen: true });
      this.#join(caller, called, 'sent');
      this.#join(called, caller, 'received');
    });
  }

  static async open(target: number): Promise<Link> {
    const link = new Link(target);
    await new Promise<void>((listening) => link.#server.listen(0, '127.0.0.1', listening));
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(cut: Cut): void {
    this.#cut = cut;
    for (const way of this.#ways) this.#flow(way);
  }

  mend(): void {
    this.#cut = undefined;
    for (const way of this.#ways) this.#flow(way);
  }

  /** Ends all connections; what has not arrived is lost. */
  sever(): void {
    for (const { from } of this.#ways) from.destroy();
  }

  close(): void {
    this.#server.close();
    this.sever();
  }

  #join(from: Socket, to: Socket, cut: 'sent' | 'received'): void {
    const way = { from, to, cut };
    this.#ways.add(way);
    from.on('data', (bytes) => {
      if (!to.write(bytes)) from.pause();
    });
    to.on('drain', () => this.#flow(way));
    from.on('end', () => to.end());
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#ways.delete(way);
      to.destroy();
    });
    this.#flow(way);
  }

  #flow({ from, cut }: { readonly from: Socket; readonly cut: 'sent' | 'received' }): void {
    if (this.#cut === 'both' || this.#cut === cut) from.pause();
    else from.resume();
  }
}
