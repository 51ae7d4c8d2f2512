import { Socket } from 'node:net';

/*
 * Loaded into a process before its program (`--import`): its connections to the ports named by DOLMEN_TEST_LINKS, a JSON of
 * port → port, go to others, so that each pair of processes has a way of its own (`Link`).
 */
const links = new Map(Object.entries(JSON.parse(process.env['DOLMEN_TEST_LINKS'] ?? '{}') as Record<string, number>));
type Connect = (this: Socket, ...args: unknown[]) => Socket;
const connect = Socket.prototype.connect as unknown as Connect;

Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  // `net.connect` hands over its arguments in a list, options first.
  const [first] = args;
  const options = (Array.isArray(first) ? first[0] : first) as { port?: number | string } | null;
  if (typeof options === 'object' && options !== null) {
    const link = links.get(String(options.port));
    if (link !== undefined) options.port = link;
  }
  return connect.apply(this, args);
} as unknown as Socket['connect'];
