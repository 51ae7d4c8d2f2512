import { createServer, type Server, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { addressesOf, openConnection } from '../../../src/ingestion/stream/kafka/broker-connection.js';
import { scram } from '../../../src/ingestion/stream/kafka/broker-login.js';
import { KafkaClient } from '../../../src/ingestion/stream/kafka/kafka-client.js';
import { metadata } from '../../../src/ingestion/stream/kafka/requests.js';

/** Connections to brokers that answer as no broker should, and SCRAM. */
const connections = suite('connections to brokers');

async function listen(answer: (socket: Socket, request: Buffer) => void): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer((socket) => {
    // Short requests that are sent together may come together.
    socket.on('data', (bytes) => {
      for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32BE(at))
        answer(socket, bytes.subarray(at, at + 4 + bytes.readInt32BE(at)));
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, server };
}

const open = (port: number) => openConnection({ host: '127.0.0.1', port, clientId: 'test', timeoutMs: 5000, tls: null });

const clientOf = (port: number): KafkaClient =>
  new KafkaClient({
    servers: `127.0.0.1:${port}`,
    addresses: [{ host: '127.0.0.1', port }],
    clientId: 'test',
    rack: '',
    timeoutMs: 5000,
    isolation: 1,
    checksBatches: false,
    fetch: { waitMs: 1, minBytes: 1, maxBytes: 1, maxBytesEach: 1 },
    tls: null,
    login: null,
  });

/** An answer to a request: its length, its number, and these bytes. */
function answerOf(request: Buffer, hex: string): Buffer {
  const body = Buffer.from(hex, 'hex');
  const head = Buffer.alloc(8);
  head.writeInt32BE(4 + body.length);
  head.writeInt32BE(request.readInt32BE(8), 4);
  return Buffer.concat([head, body]);
}

/** No throttling, no brokers, no id of the cluster, no controller, no topics. */
const EMPTY_METADATA = `00000000${'00000000'}${'ffff'}${'ffffffff'}${'00000000'}${'80000000'}`;

connections('a request is what the protocol documents, and an answer is read in whatever pieces it comes', async () => {
  const requests: Buffer[] = [];
  const { port, server } = await listen((socket, request) => {
    requests.push(request);
    const answer = answerOf(request, EMPTY_METADATA);
    let at = 0;
    const timer = setInterval(() => {
      socket.write(answer.subarray(at, at + 3));
      at += 3;
      if (at >= answer.length) clearInterval(timer);
    }, 2);
  });
  const connection = await open(port);
  for (let time = 0; time < 2; time++) assert.equal(await connection.ask(metadata(['t']), 5000), { brokers: [], topics: [] });
  // Length 24, key 3, version 8, number, client "test", one topic "t", and three times no.
  const request = (number: string): string => `0000001800030008${number}0004746573740000000100017400${'0000'}`;
  assert.equal(
    requests.map((bytes) => bytes.toString('hex')),
    [request('00000000'), request('00000001')],
  );
  connection.close();
  server.close();
});

const ODD: readonly (readonly [name: string, answer: (request: Buffer) => Buffer | null, message: RegExp])[] = [
  ['a line of HTTP', () => Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /an answer of 1213486160 bytes is not one of Kafka/],
  ['a length below 0', () => Buffer.from('ffffffff', 'hex'), /an answer of -1 bytes/],
  [
    'another number than was asked',
    (request) => {
      const answer = answerOf(request, EMPTY_METADATA);
      answer.writeInt32BE(77, 4);
      return answer;
    },
    /answers what was not asked/,
  ],
  ['two billion brokers in no bytes', (request) => answerOf(request, '000000007fffffff'), /cannot be read/],
  ['an answer that is cut off', (request) => answerOf(request, EMPTY_METADATA.slice(0, 20)), /cannot be read/],
  ['silence', () => Buffer.alloc(0), /no answer within 300 ms/],
  ['the end of the connection', () => null, /the broker closed the connection/],
];
for (const [name, answer, message] of ODD)
  connections(`${name} ends the request by name, and the connection`, async () => {
    const { port, server } = await listen((socket, request) => {
      const bytes = answer(request);
      if (bytes === null) socket.end();
      else socket.write(bytes);
    });
    const connection = await open(port);
    const error: unknown = await connection.ask(metadata(null), 300).catch((fault: unknown) => fault);
    assert.match(String(error), message);
    assert.is(connection.isOpen, false);
    server.close();
  });

/** No throttling, no brokers, no id of the cluster, no controller, topic "t" with a code and no partitions, nobody's rights. */
const topicWith = (code: string): string =>
  `00000000${'00000000'}${'ffff'}${'ffffffff'}${'00000001'}${code}${'000174'}${'00'}${'00000000'}${'80000000'}${'80000000'}`;

const TOLD: readonly (readonly [code: string, says: RegExp | null])[] = [
  // TOPIC_AUTHORIZATION_FAILED, INVALID_TOPIC_EXCEPTION
  ['001d', /topic t: this login may not describe it/],
  ['0011', /topic t: the broker refuses with code 17/],
  // UNKNOWN_TOPIC_OR_PARTITION and LEADER_NOT_AVAILABLE pass by, as on a broker that learns of a topic.
  ['0003', null],
  ['0005', null],
];
for (const [code, says] of TOLD)
  connections(
    `a topic that is told with code ${Number.parseInt(code, 16)} is ${says === null ? 'one to ask for again' : 'refused'}`,
    async () => {
      const { port, server } = await listen((socket, request) => socket.write(answerOf(request, topicWith(code))));
      const client = clientOf(port);
      const asked = await client.metadata(['t']).catch((error: unknown) => String(error));
      if (says !== null) assert.match(String(asked), says);
      else assert.equal(asked, { brokers: [], topics: [{ errorCode: Number.parseInt(code, 16), name: 't', partitions: [] }] });
      // All topics are asked for: those that may be seen are told.
      assert.is((await client.metadata(null)).topics.length, 1);
      await client.close();
      server.close();
    },
  );

connections('a connection that was lost is made anew once, whoever asks', async () => {
  const sockets: Socket[] = [];
  const { port, server } = await listen((socket, request) => {
    if (!sockets.includes(socket)) sockets.push(socket);
    socket.write(answerOf(request, EMPTY_METADATA));
  });
  const client = clientOf(port);
  const ask = () => Promise.all(Array.from({ length: 5 }, () => client.metadata(null)));
  await ask();
  assert.is(sockets.length, 1);
  const [first] = sockets;
  await new Promise<void>((resolve) => {
    first?.once('close', () => resolve());
    first?.destroy();
  });
  // The end of the connection has to come here first.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await ask();
  assert.is(sockets.length, 2);
  await client.close();
  server.close();
});

connections('servers are hosts with a port or without', () => {
  assert.equal(addressesOf('a:1,b , SSL://c:3,[fe80::1%eth0]:4,'), [
    { host: 'a', port: 1 },
    { host: 'b', port: 9092 },
    { host: 'c', port: 3 },
    { host: 'fe80::1%eth0', port: 4 },
  ]);
  for (const odd of ['', ',', 'a:0', 'a:65536', 'a b:1', 'a:b', '[::1', 'a:1/x', 'a@b:c']) assert.is(addressesOf(odd), null, odd);
});

/** The example of RFC 7677, section 3. */
const EXAMPLE = {
  login: { hash: 'sha256', username: 'user', password: 'pencil', nonce: 'rOprNGfwEbeRWgbNEkqO' },
  first: 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
  last: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
} as const;

async function conversation(answers: readonly string[], login: Parameters<typeof scram>[1] = EXAMPLE.login): Promise<readonly string[]> {
  const sent: string[] = [];
  await scram(async (message) => answers[sent.push(message) - 1] ?? '', login);
  return sent;
}

connections('SCRAM sends what the example of RFC 7677 does', async () => {
  assert.equal(await conversation([EXAMPLE.first, EXAMPLE.last]), [
    'n,,n=user,r=rOprNGfwEbeRWgbNEkqO',
    'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
  ]);
});

connections('SCRAM writes commas and equals signs of a name as RFC 5802 does', async () => {
  const sent: string[] = [];
  const send = async (message: string): Promise<string> => {
    sent.push(message);
    return '';
  };
  await scram(send, { ...EXAMPLE.login, username: 'a=b,c,=' }).catch(() => undefined);
  assert.equal(sent, ['n,,n=a=3Db=2Cc=2C=3D,r=rOprNGfwEbeRWgbNEkqO']);
});

const REFUSED: readonly (readonly [name: string, answers: readonly string[], message: RegExp])[] = [
  ['a proof that is wrong', [EXAMPLE.first, EXAMPLE.last.replace('6rri', '7rri')], /does not prove/],
  ['no proof', [EXAMPLE.first, ''], /does not prove/],
  ['an error', [EXAMPLE.first, 'e=other-error'], /does not prove/],
  ['another nonce', [EXAMPLE.first.replace('rOpr', 'xOpr')], /another nonce/],
  ['a nonce that adds nothing', [EXAMPLE.first.replace('%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0', '')], /another nonce/],
  ['few iterations', [EXAMPLE.first.replace('i=4096', 'i=1')], /asks for 1 iterations.*4096 to 1000000/],
  ['very many iterations', [EXAMPLE.first.replace('i=4096', 'i=999999999')], /asks for 999999999 iterations/],
];
for (const [name, answers, message] of REFUSED)
  connections(`SCRAM refuses ${name} of the other side`, async () => {
    assert.match(String(await conversation(answers).catch((error: unknown) => error)), message);
  });

connections.run();
