import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Connection } from '../../bench/http/connection.js';

const connections = suite('connections of benches');
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[[1]]';

/** A server whose connections do with their requests as told: number of the connection, number of its request. */
async function serverThat(reacts: (socket: Socket, connection: number, request: number) => void) {
  let connections = 0;
  const server = createServer((socket) => {
    const connection = connections++;
    let requests = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => reacts(socket, connection, requests++));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections, close: () => server.close() };
}

connections('a connection that the server closed while it was silent is opened again, and the question asked once more', async () => {
  const server = await serverThat((socket, _connection, request) => (request === 0 ? socket.write(ANSWER) : socket.destroy()));
  const connection = new Connection(server.url);
  for (let count = 0; count < 4; count++) assert.equal(await connection.sqlRows('SELECT 1'), [[1]]);
  assert.equal(server.connections(), 4);
  connection.close();
  server.close();
});

connections('a connection that ends within an answer, or at once when it is new, is an error', async () => {
  for (const first of ['', ANSWER.slice(0, 40)]) {
    const server = await serverThat((socket) => socket.end(first));
    const connection = new Connection(server.url);
    const ended = await connection.sqlRows('SELECT 1').then(String, (error: Error) => error.message);
    assert.equal(ended, 'the server closed the connection');
    assert.equal(server.connections(), 1);
    connection.close();
    server.close();
  }
});

connections.run();
