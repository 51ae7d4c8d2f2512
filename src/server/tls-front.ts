// Takes connections with TLS and hands what they say to the HTTP server of the same process.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, isIPv4, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TlsOptions } from 'node:tls';
import type { Log } from '../base/log.js';
import { cannotListen } from './sockets.js';

export interface TlsFrontOptions {
  readonly host: string;
  readonly port: number;
  readonly secure: TlsOptions;
  readonly log: Log;
}

export interface TlsFront {
  readonly port: number;
  /** New connections are made with these certificates, open ones stay. */
  renew(secure: TlsOptions): void;
  stop(): void;
  close(): void;
}

/** A socket in a folder that only this account can enter: whoever reaches it may claim any address. */
export function privateSocket(): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-'));
  chmodSync(folder, 0o700);
  return { path: join(folder, 'http'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Listens with TLS. Behind it stands the HTTP server, on a private socket; the address of the client goes before the first byte, in
 * the form of version 2 of the PROXY protocol. Certificates of clients, key stores and reloading are Node's.
 */
export async function openTlsFront({ host, port, secure, log }: TlsFrontOptions, path: string): Promise<TlsFront> {
  const open = new Set<Socket>();
  const server = createServer({ ...secure, ALPNProtocols: ['http/1.1'], noDelay: true }, (outside) => {
    // Certificates are asked for, and not demanded: none is as good as a trusted one, a strange one is not.
    if (secure.requestCert === true && !outside.authorized && Object.keys(outside.getPeerCertificate()).length > 0) {
      outside.destroy();
      return;
    }
    const inside = connect(path);
    inside.setNoDelay(true);
    inside.write(proxyHeader(outside.remoteAddress ?? '', outside.remotePort ?? 0));
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.on('tlsClientError', (error) => log.debug('a TLS connection was refused', { error }));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(`${host}:${port}`, error)));
    server.listen({ host, port, exclusive: true }, resolve);
  });
  server.removeAllListeners('error');
  server.on('error', (error) => log.error('the TLS port failed', { error }));
  return {
    port: (server.address() as AddressInfo).port,
    renew: (renewed) => server.setSecureContext(renewed),
    stop: () => void server.close(),
    close() {
      for (const socket of open) socket.destroy();
    },
  };
}

const SIGNATURE = Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]);
const VERSION_AND_COMMAND = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

/** Addresses and ports of both ends, of which ours does not matter. */
function proxyHeader(address: string, port: number): Buffer {
  const isV4 = isIPv4(address);
  const bytes = isV4 ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(port, 0);
  const rest = Buffer.concat([bytes, Buffer.alloc(bytes.length), ports]);
  const head = Buffer.from([VERSION_AND_COMMAND, isV4 ? TCP_OVER_IPV4 : TCP_OVER_IPV6, 0, rest.length]);
  return Buffer.concat([SIGNATURE, head, rest]);
}

function ipv6Bytes(address: string): Buffer {
  const [, mapped] = /^(?:::ffff:)(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return Buffer.from([...Array.from({ length: 10 }, () => 0), 0xff, 0xff, ...mapped.split('.').map(Number)]);
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::');
  const groups = (text: string): number[] => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const [front, back] = [groups(head), groups(tail)];
  const all = [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => 0), ...back].slice(0, 8);
  const bytes = Buffer.alloc(16);
  all.forEach((group, at) => bytes.writeUInt16BE(Number.isInteger(group) ? group : 0, at * 2));
  return bytes;
}
