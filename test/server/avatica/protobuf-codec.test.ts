import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import type { ObjectReader } from '../../../src/base/json-reader.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import { AvaticaLogins } from '../../../src/server/avatica/logins.js';
import { PROTOBUF_CODEC } from '../../../src/server/avatica/protobuf-codec.js';
import type { Representation, WireFrame, WireType, WireValue } from '../../../src/server/avatica/protocol.js';
import { requestOf } from '../../../src/server/avatica/protocol.js';
import { avaticaRoutes } from '../../../src/server/routes/avatica.js';
import { type Decoded, encode, envelope, type Fields, type FieldValue, openEnvelope, rowsOf, type Typed } from './protobuf-client.js';

const codec = suite('Avatica over Protocol Buffers');

const scalar = (rep: Representation): WireType => ({ type: 'scalar', id: 0, name: rep, rep });
const array = (component: WireType): WireType => ({ type: 'array', id: 2003, name: 'ARRAY', rep: 'ARRAY', component });

function frameOf(types: readonly WireType[], rows: WireFrame['rows']): WireFrame {
  return { offset: 0, done: true, rows, types };
}

/** The frame of an answer as a client reads it. */
function sent(frame: WireFrame): Decoded {
  const response = { response: 'fetch', frame, missingStatement: false, missingResults: false } as const;
  return openEnvelope(Buffer.from(PROTOBUF_CODEC.encode(response, 'host:1') as Uint8Array)).message.message(1);
}

codec('an answer has these bytes', () => {
  const bytes = Buffer.from(
    PROTOBUF_CODEC.encode({ response: 'createStatement', connectionId: 'c', statementId: 300 }, 'h:1') as Uint8Array,
  );
  const name = 'org.apache.calcite.avatica.proto.Responses$CreateStatementResponse';
  // Field 1 "c", field 2 300 (0b10_0101100), field 3 a message with the field 1 "h:1".
  const message = Buffer.from('0a0163' + '10ac02' + '1a05' + '0a03683a31', 'hex');
  assert.equal(bytes, Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name), Buffer.from([0x12, message.length]), message]));
});

const VALUES: readonly { readonly type: WireType; readonly value: WireValue; readonly read: Typed }[] = [
  { type: scalar('STRING'), value: 'tæxt', read: 'STRING tæxt' },
  { type: scalar('STRING'), value: '', read: 'STRING ' },
  { type: scalar('OBJECT'), value: '{"a":1}', read: 'STRING {"a":1}' },
  { type: scalar('BOOLEAN'), value: false, read: 'BOOLEAN false' },
  { type: scalar('INTEGER'), value: -7n, read: 'INTEGER -7' },
  { type: scalar('INTEGER'), value: 5_000_000_000n, read: 'LONG 5000000000' },
  { type: scalar('LONG'), value: 9223372036854775807n, read: 'LONG 9223372036854775807' },
  { type: scalar('LONG'), value: -9223372036854775808n, read: 'LONG -9223372036854775808' },
  { type: scalar('LONG'), value: 1_704_067_200_000, read: 'LONG 1704067200000' },
  { type: scalar('DOUBLE'), value: 0.1, read: 'DOUBLE 0.1' },
  { type: scalar('DOUBLE'), value: Number.NaN, read: 'DOUBLE NaN' },
  { type: scalar('DOUBLE'), value: Number.NEGATIVE_INFINITY, read: 'DOUBLE -Infinity' },
  { type: scalar('DOUBLE'), value: 7, read: 'DOUBLE 7' },
  { type: scalar('FLOAT'), value: -1.5, read: 'FLOAT -1.5' },
  { type: scalar('LONG'), value: null, read: 'NULL true' },
  { type: array(scalar('LONG')), value: [1n, null, 3n], read: ['LONG 1', 'NULL true', 'LONG 3'] },
  { type: array(scalar('STRING')), value: [], read: [] },
  { type: array(scalar('DOUBLE')), value: null, read: 'NULL true' },
  { type: array(array(scalar('LONG'))), value: [[1n], null, []], read: [['LONG 1'], 'NULL true', []] },
];

for (const { type, value, read } of VALUES) {
  codec(`${type.type} ${type.rep} ${String(value)}`, () => {
    assert.equal(rowsOf(sent(frameOf([type], [[value]]))), [[read]]);
  });
}

codec('a frame says where it begins and whether it is the last', () => {
  const frame = sent({ offset: 2 ** 40, done: false, rows: [], types: [] });
  assert.equal([frame.long(1), frame.bool(2), rowsOf(frame)], [2n ** 40n, false, []]);
});

const VALUE_OF: Readonly<Record<string, fc.Arbitrary<WireValue>>> = {
  STRING: fc.string({ unit: 'grapheme', maxLength: 300 }),
  LONG: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  DOUBLE: fc.double(),
  BOOLEAN: fc.boolean(),
};

codec('frames of any content are read back unchanged', () => {
  const columns = fc.array(fc.constantFrom('STRING', 'LONG', 'DOUBLE', 'BOOLEAN'), { minLength: 1, maxLength: 5 });
  const frames = columns.chain((reps) =>
    fc.record({
      reps: fc.constant(reps),
      rows: fc.array(fc.tuple(...reps.map((rep) => fc.option(VALUE_OF[rep] as fc.Arbitrary<WireValue>))), { maxLength: 20 }),
    }),
  );
  fc.assert(
    fc.property(frames, ({ reps, rows }) => {
      const types = reps.map((rep) => scalar(rep as Representation));
      const expected = rows.map((row) => row.map((value, index) => (value === null ? 'NULL true' : `${reps[index]} ${value}`)));
      assert.equal(rowsOf(sent(frameOf(types, rows))), expected);
    }),
    { numRuns: 300 },
  );
});

codec('a failure has its text, its numbers and who it comes from', () => {
  const error = {
    response: 'error',
    exceptions: ['x: y'],
    errorMessage: 'y',
    errorCode: -1,
    sqlState: '00000',
    severity: 'ERROR',
  } as const;
  const { name, message } = openEnvelope(Buffer.from(PROTOBUF_CODEC.encode(error, 'host:1') as Uint8Array));
  assert.is(name, 'ErrorResponse');
  assert.equal(
    [message.texts(1), message.text(2), message.long(3), message.long(4), message.text(5)],
    [['x: y'], 'y', 2n, 0xffffffffn, '00000'],
  );
  assert.equal([message.message(6).text(1), message.bool(7)], ['host:1', true]);
});

function read(name: string, fields: Fields): ObjectReader {
  return requestOf(PROTOBUF_CODEC.read(envelope(name, fields)));
}

codec('a request has the names that JSON has', () => {
  const opened = read('OpenConnectionRequest', [
    [1, 'c'],
    [
      2,
      {
        message: [
          [1, 'sqlTimeZone'],
          [2, 'Europe/Oslo'],
        ],
      },
    ],
    [
      2,
      {
        message: [
          [1, '__proto__'],
          [2, 'x'],
        ],
      },
    ],
  ]);
  assert.is(opened.string('request'), 'openConnection');
  assert.is(opened.string('connectionId'), 'c');
  assert.equal(Object.entries(opened.raw('info') as object), [
    ['sqlTimeZone', 'Europe/Oslo'],
    ['__proto__', 'x'],
  ]);
  const executed = read('PrepareAndExecuteRequest', [
    [1, 'c'],
    [2, 'SELECT 1'],
    [5, -1n],
    [6, 100],
  ]);
  assert.equal(
    ['statementId', 'maxRowsTotal', 'maxRowsInFirstFrame', 'sql'].map((key) => executed.raw(key)),
    [0, -1, 100, 'SELECT 1'],
  );
  const fetched = read('FetchRequest', [
    [1, 'c'],
    [2, 3],
    [3, 7],
    [4, 9],
    [99, 'from a newer driver'],
  ]);
  assert.equal(
    ['statementId', 'offset', 'fetchMaxRowCount'].map((key) => fetched.raw(key)),
    [3, 7, 9],
  );
});

codec('a text that was left out is told from one that is empty', () => {
  const schemas = read('SchemasRequest', [
    [4, true],
    [3, 'c'],
  ]);
  assert.equal([schemas.raw('catalog'), schemas.raw('schemaPattern')], ['', undefined]);
  const properties = read('ConnectionSyncRequest', [
    [1, 'c'],
    [
      2,
      {
        message: [
          [8, true],
          [4, 2],
        ],
      },
    ],
  ]).object('connProps');
  assert.equal(
    ['readOnly', 'autoCommit', 'transactionIsolation'].map((key) => properties.raw(key)),
    [false, undefined, 2],
  );
});

const typed = (type: number, ...fields: Fields): FieldValue => ({ message: [[1, type], ...fields] });

const PARAMETERS: readonly { readonly name: string; readonly value: FieldValue; readonly read: object }[] = [
  { name: 'a text', value: typed(21, [3, 'x']), read: { type: 'STRING', value: 'x' } },
  { name: 'an empty text', value: typed(21), read: { type: 'STRING', value: '' } },
  { name: 'a long', value: typed(13, [4, { signed: -5n }]), read: { type: 'LONG', value: -5 } },
  { name: 'the largest long', value: typed(13, [4, { signed: 2n ** 63n - 1n }]), read: { type: 'LONG', value: 2n ** 63n - 1n } },
  { name: 'zero', value: typed(12), read: { type: 'INTEGER', value: 0 } },
  { name: 'a double', value: typed(15, [6, { double: 2.5 }]), read: { type: 'DOUBLE', value: 2.5 } },
  { name: 'a float', value: typed(14, [4, { signed: 0x40200000n }]), read: { type: 'FLOAT', value: 2.5 } },
  { name: 'false', value: typed(8), read: { type: 'BOOLEAN', value: false } },
  { name: 'a decimal', value: typed(26, [3, '1.25']), read: { type: 'BIG_DECIMAL', value: '1.25' } },
  { name: 'a large integer', value: typed(25, [5, Buffer.from([0xff, 0x00])]), read: { type: 'BIG_INTEGER', value: -256n } },
  { name: 'null', value: typed(23, [7, true]), read: { type: 'NULL', value: null } },
  { name: 'what was not set', value: { message: [[10, true]] }, read: { type: 'NULL', value: null } },
  {
    name: 'an array',
    value: typed(27, [8, typed(24, [7, true])], [8, typed(12, [4, { signed: 3n }])], [9, 12]),
    read: { type: 'ARRAY', componentType: 'INTEGER', value: [null, 3] },
  },
];

for (const { name, value, read: expected } of PARAMETERS) {
  codec(`as a parameter, ${name}`, () => {
    const request = read('ExecuteRequest', [
      [
        1,
        {
          message: [
            [1, 'c'],
            [2, 4],
          ],
        },
      ],
      [2, value],
      [4, true],
      [5, -1n],
    ]);
    assert.equal(request.raw('parameterValues'), [expected]);
    assert.equal([request.object('statementHandle').raw('id'), request.raw('maxRowCount')], [4, -1]);
  });
}

codec('whose connection it is can be seen', () => {
  const handle: FieldValue = {
    message: [
      [1, 'mine'],
      [2, 1],
    ],
  };
  assert.is(PROTOBUF_CODEC.connectionOf(envelope('CreateStatementRequest', [[1, 'mine']])), 'mine');
  assert.is(PROTOBUF_CODEC.connectionOf(envelope('ExecuteRequest', [[1, handle]])), 'mine');
  assert.is(PROTOBUF_CODEC.connectionOf(Buffer.from('garbage')), undefined);
});

/** Arrays in arrays. */
function nested(depth: number): FieldValue {
  return depth === 0 ? typed(24, [7, true]) : typed(27, [8, nested(depth - 1)]);
}

const REFUSED: readonly { readonly name: string; readonly body: Buffer; readonly says: RegExp }[] = [
  { name: 'nothing', body: Buffer.alloc(0), says: /^name: expected org.*OpenConnectionRequest.*found ""/ },
  { name: 'JSON', body: Buffer.from('{"request":"openConnection"}'), says: /^body: expected a message of Protocol Buffers/ },
  { name: 'another name', body: encode([[1, 'Requests$FetchRequest']]), says: /found "Requests\$FetchRequest"/ },
  { name: 'the name of a response', body: encode([[1, 'org.apache.calcite.avatica.proto.Responses$FetchResponse']]), says: /found "org/ },
  { name: 'the name of what every object has', body: envelope('constructor', []), says: /found "org.*constructor"/ },
  { name: 'a very long name', body: encode([[1, 'x'.repeat(100_000)]]), says: /found "x{100}"$/ },
  { name: 'a message that ends early', body: envelope('FetchRequest', [[1, 'c']]).subarray(0, -1), says: /^message: .*premature EOF/ },
  {
    name: 'a field that ends early',
    body: encode([
      [1, 'org.apache.calcite.avatica.proto.Requests$FetchRequest'],
      [2, Buffer.from([0x0a, 0xff])],
    ]),
    says: /^connectionId: /,
  },
  {
    name: 'a number for a text',
    body: envelope('FetchRequest', [[1, 7]]),
    says: /^connectionId: expected LengthDelimited, found Varint in field 1/,
  },
  { name: 'a text that is no text', body: envelope('PrepareRequest', [[2, Buffer.from([0xc3, 0x28])]]), says: /^sql: / },
  {
    name: 'an unknown type of a parameter',
    body: envelope('ExecuteRequest', [[2, typed(77)]]),
    says: /^parameterValues\[0\].type: there is no type with the number 77/,
  },
  { name: 'arrays too deep', body: envelope('ExecuteRequest', [[2, nested(40)]]), says: /nested deeper than 32 levels/ },
  {
    name: 'an integer of a megabyte',
    body: envelope('ExecuteRequest', [[2, typed(25, [5, Buffer.alloc(1 << 20, 1)])]]),
    says: /BIG_INTEGER has 1048576 bytes/,
  },
];

function refusal(body: Buffer): ServiceError {
  try {
    requestOf(PROTOBUF_CODEC.read(body));
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('it was read');
}

for (const { name, body, says } of REFUSED) {
  codec(`refused: ${name}`, () => {
    const { code, message } = refusal(body);
    assert.is(code, 'input_invalid');
    assert.match(message, says);
  });
}

/** Requests of every kind with every field, to be damaged. */
const VALID: readonly Buffer[] = [
  envelope('OpenConnectionRequest', [
    [1, 'c'],
    [
      2,
      {
        message: [
          [1, 'a'],
          [2, 'b'],
        ],
      },
    ],
  ]),
  envelope('ExecuteRequest', [
    [
      1,
      {
        message: [
          [1, 'c'],
          [2, 4],
        ],
      },
    ],
    [2, typed(27, [8, typed(15, [6, { double: 1 }])])],
    [4, true],
    [5, 7],
  ]),
  envelope('PrepareAndExecuteRequest', [
    [1, 'c'],
    [2, 'SELECT 1'],
    [3, -1n],
    [4, 1],
    [5, -1n],
    [6, -1n],
  ]),
  envelope('ConnectionSyncRequest', [
    [1, 'c'],
    [
      2,
      {
        message: [
          [2, true],
          [7, true],
          [5, 'x'],
        ],
      },
    ],
  ]),
  envelope('ColumnsRequest', [
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
    [4, 'd'],
    [5, 'e'],
    [6, true],
  ]),
];

codec('damaged requests are read or refused, and nothing else', async () => {
  const answered: string[] = [];
  const log = { error: (message: string) => answered.push(message) };
  const avatica = { answer: async () => ({ response: 'openConnection' }) as const };
  const logins = new AvaticaLogins({ login: async () => ALLOW_ALL_CALLER, stranger: async () => ALLOW_ALL_CALLER });
  const [, route] = avaticaRoutes(avatica, {
    host: 'host:1',
    log,
    logins,
    readLong: () => assert.unreachable('all of them are short') as never,
  });
  const damage = fc.record({ at: fc.nat(400), byte: fc.integer({ min: 0, max: 255 }), how: fc.constantFrom('set', 'cut', 'insert') });
  const damaged = fc.tuple(fc.constantFrom(...VALID), fc.array(damage, { minLength: 1, maxLength: 4 })).map(([body, damages]) => {
    let bytes = Buffer.from(body);
    for (const { at, byte, how } of damages) {
      const place = at % (bytes.length + 1);
      if (how === 'set' && place < bytes.length) bytes[place] = byte;
      else if (how === 'cut') bytes = bytes.subarray(0, place);
      else bytes = Buffer.concat([bytes.subarray(0, place), Buffer.from([byte]), bytes.subarray(place)]);
    }
    return bytes;
  });
  const bodies = fc.oneof(
    damaged,
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  );
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const request = { method: 'POST', path: '', rawUrl: '', query: new URLSearchParams(), headers: {}, body, remoteAddress: '' };
      const response = await route?.handle(
        { ...request, signal: new AbortController().signal, viaAlias: false, caller: ALLOW_ALL_CALLER },
        {},
      );
      const { name } = openEnvelope(Buffer.from(response?.body as Uint8Array));
      assert.is(name, response?.status === 200 ? 'OpenConnectionResponse' : 'ErrorResponse');
      if (name === 'ErrorResponse') refused++;
    }),
    { numRuns: 2000 },
  );
  // None of them was the server's own failure, and hardly any of them made sense.
  assert.equal(answered, []);
  assert.ok(refused > 500);
});
codec.run();
