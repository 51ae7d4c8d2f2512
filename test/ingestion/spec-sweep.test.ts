import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { validateTask } from '../../src/ingestion/task.js';
import { parseIndexSpec } from '../../src/ingestion/task-spec/index-spec.js';
import { run } from './run-task.js';
import { base, CONTEXT, PLACES } from './spec-fields.js';

/**
 * Every field that the public reference documents of native batch tasks: it changes what is read of a spec, or is listed as without
 * effect, or is refused by name. A value that means nothing is refused whatever becomes of the field.
 */

type Json = Readonly<Record<string, unknown>>;

/** The document with a value at a path. */
function at(document: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(document)) return document.map((element, place) => (place === key ? at(element, rest, value) : element));
  const members = (document ?? {}) as Json;
  return { ...members, [key]: at(members[key], rest, value) };
}

function valueAt(document: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce((value: unknown, key) => (value as Record<string | number, unknown> | undefined)?.[key], document);
}

function pathText(path: readonly (string | number)[]): string {
  return path.map((key, place) => (typeof key === 'number' ? `[${key}]` : place === 0 ? key : `.${key}`)).join('');
}

/** Parts of a spec as they are read, and the keys that are told to have no effect. Functions, and the spec as it was written, are left out. */
function read(spec: unknown): { readonly parsed: string; readonly inertKeys: readonly string[] } {
  const context = readContextOf('input_invalid', 'the task');
  const { source: _, inputFormat, ...parsed } = parseIndexSpec(new ObjectReader(spec, 'spec', context), 'index_parallel');
  const { source: __, ...dataSchema } = parsed.dataSchema;
  return { parsed: JSON.stringify({ ...parsed, dataSchema, format: inputFormat?.type }), inertKeys: context.inertKeys };
}

function refusal(work: () => unknown): ServiceError {
  try {
    work();
  } catch (error) {
    if (error instanceof ServiceError && (error.code === 'input_invalid' || error.code === 'unsupported')) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const sweep = suite('every documented field of a native batch task');

for (const { path, object, fields } of PLACES) {
  const place = object === undefined ? base : at(base, path, object);
  const of = object?.['type'] === undefined ? '' : ` (${String(object['type'])})`;
  for (const { name, value, fate, wrong, beside = {} } of fields) {
    const where = pathText(['spec', ...path, name]);
    const withValue = (given: unknown): unknown => at(place, path, { ...(valueAt(place, path) as Json), ...beside, [name]: given });
    sweep(`${where}${of} is ${fate}`, () => {
      if (fate === 'refused') {
        const error = refusal(() => read(withValue(value)));
        assert.ok(error.message.startsWith(where), error.message);
        return;
      }
      const { parsed, inertKeys } = read(withValue(value));
      assert.is(inertKeys.includes(where), fate === 'inert', inertKeys.join());
      if (fate !== 'accepted') assert.is(parsed !== read(place).parsed, fate === 'honoured', parsed);
    });
    if (wrong !== undefined)
      sweep(`${where}${of} refuses ${JSON.stringify(wrong)} by name`, () => {
        const { message } = refusal(() => read(withValue(wrong)));
        assert.ok(message.startsWith(where), message);
      });
  }
  sweep(`${pathText(['spec', ...path])}${of} refuses a key that nobody knows`, () => {
    const { message } = refusal(() => read(at(place, path, { ...(valueAt(place, path) as Json), nobodyKnows: 1 })));
    assert.match(message, /unknown key "nobodyKnows"/);
  });
}

for (const { name, value, fate, wrong } of CONTEXT) {
  const payload = (given: unknown): unknown => ({ type: 'index_parallel', spec: base, context: { [name]: given, mine: 1 } });
  sweep(`context.${name} is ${fate}`, async () => {
    if (fate === 'refused') {
      assert.ok(refusal(() => validateTask(payload(value), 0)).message.startsWith(`context.${name}`));
      return;
    }
    assert.is(validateTask(payload(value), 0).context[name], value);
    const { log } = await run(payload(value));
    assert.is(
      log.some((line) => line.startsWith('without effect here') && line.includes(`context.${name}`)),
      fate === 'inert',
      log.join(),
    );
  });
  // The Overlord reads the priority.
  if (wrong !== undefined && name !== 'priority')
    sweep(`context.${name} refuses ${JSON.stringify(wrong)} by name`, () =>
      assert.ok(refusal(() => validateTask(payload(wrong), 0)).message.startsWith(`context.${name}`)),
    );
}

for (const [name, wrong] of Object.entries({
  bitmap: { type: 'huge' },
  dimensionCompression: 'gzip',
  stringDictionaryEncoding: { type: 'frontCoded', bucketSize: 0 },
  metricCompression: 7,
  longEncoding: 'short',
  complexMetricCompression: 'gzip',
  jsonCompression: 'gzip',
}))
  sweep(`indexSpec.${name} refuses ${JSON.stringify(wrong)} by name`, () => {
    const { message } = refusal(() => read(at(base, ['tuningConfig', 'indexSpec'], { [name]: wrong })));
    assert.ok(message.startsWith(`spec.tuningConfig.indexSpec.${name}`), message);
  });

/** Options of input formats, by what they make of a text: rows of fields, without their times. */
interface FormatCase {
  readonly format: Json;
  readonly data: string;
  readonly rows: readonly Json[];
}

const FORMATS: readonly FormatCase[] = [
  { format: { type: 'csv', columns: ['time', 'a'] }, data: '1,x', rows: [{ a: 'x' }] },
  { format: { type: 'csv', findColumnsFromHeader: true }, data: 'time,a\n1,x', rows: [{ a: 'x' }] },
  { format: { type: 'csv', columns: ['time', 'a'], skipHeaderRows: 1 }, data: 'junk\n1,x', rows: [{ a: 'x' }] },
  { format: { type: 'csv', columns: ['time', 'a'], listDelimiter: '|' }, data: '1,x|y', rows: [{ a: ['x', 'y'] }] },
  { format: { type: 'csv', columns: ['time', 'a'] }, data: '1,x\u0001y', rows: [{ a: ['x', 'y'] }] },
  { format: { type: 'csv', columns: ['time', 'a'], tryParseNumbers: true }, data: '1,7', rows: [{ a: 7n }] },
  { format: { type: 'csv', columns: ['time', 'a'], tryParseNumbers: false }, data: '1,7', rows: [{ a: '7' }] },
  { format: { type: 'tsv', columns: ['time', 'a'], delimiter: '|' }, data: '1|x', rows: [{ a: 'x' }] },
  { format: { type: 'tsv', findColumnsFromHeader: true, skipHeaderRows: 1 }, data: 'junk\ntime\ta\n1\tx', rows: [{ a: 'x' }] },
  { format: { type: 'tsv', columns: ['time', 'a'], listDelimiter: '|' }, data: '1\tx|y', rows: [{ a: ['x', 'y'] }] },
  { format: { type: 'tsv', columns: ['time', 'a'], tryParseNumbers: true }, data: '1\t7', rows: [{ a: 7n }] },
  { format: { type: 'regex', pattern: '(\\d) (.*)', columns: ['time', 'a'] }, data: '1 x', rows: [{ a: 'x' }] },
  {
    format: { type: 'regex', pattern: '(\\d) (.*)', columns: ['time', 'a'], listDelimiter: '|' },
    data: '1 x|y',
    rows: [{ a: ['x', 'y'] }],
  },
  { format: { type: 'json' }, data: '{"time":1,"a":"x"}', rows: [{ a: 'x' }] },
  { format: { type: 'json', useJsonNodeReader: true }, data: '{"time":1,\n"a":"x"}', rows: [{ a: 'x' }] },
  {
    format: { type: 'json', flattenSpec: { fields: [{ type: 'path', name: 'a', expr: '$.b[1]' }] } },
    data: '{"time":1,"b":[1,2]}',
    rows: [{ a: 2n, b: [1n, 2n] }],
  },
  {
    format: { type: 'json', flattenSpec: { useFieldDiscovery: false, fields: ['time', { type: 'tree', name: 'a', nodes: ['b', 'c'] }] } },
    data: '{"time":1,"b":{"c":2},"d":3}',
    rows: [{ a: 2n }],
  },
  {
    format: { type: 'json', flattenSpec: { useFieldDiscovery: false, fields: ['time', { type: 'root', name: 'a', expr: 'b.c' }] } },
    data: '{"time":1,"b.c":2}',
    rows: [{ a: 2n }],
  },
];

function formatTask(inputFormat: Json, data: string, dataSchema: Json = {}): unknown {
  const schema = { dimensionsSpec: { useSchemaDiscovery: true }, metricsSpec: [], granularitySpec: { rollup: false }, transformSpec: null };
  const timestampSpec = { column: 'time', format: 'millis' };
  return {
    type: 'index_parallel',
    spec: {
      ...base,
      dataSchema: { ...base.dataSchema, timestampSpec, ...schema, ...dataSchema },
      ioConfig: { ...base.ioConfig, inputSource: { type: 'inline', data }, inputFormat },
    },
  };
}

for (const { format, data, rows } of FORMATS)
  sweep(`${JSON.stringify(format)} of ${JSON.stringify(data)}`, async () => {
    const { outcome, rows: found } = await run(formatTask(format, data));
    assert.is(outcome.errorMessage, null);
    assert.equal(
      found.map(({ __time: _, ...row }) => row),
      rows,
    );
  });

const REFUSED_FORMATS: readonly (readonly [format: Json, says: RegExp])[] = [
  [{ type: 'json', featureSpec: { ALLOW_SINGLE_QUOTES: true } }, /^spec\.ioConfig\.inputFormat\.featureSpec: .* is not supported/],
  [{ type: 'json', keepNullColumns: true }, /^spec\.ioConfig\.inputFormat\.keepNullColumns/],
  [{ type: 'json', useJsonNodeReader: 'maybe' }, /^spec\.ioConfig\.inputFormat\.useJsonNodeReader/],
  [{ type: 'json', assumeNewlineDelimited: 'maybe' }, /^spec\.ioConfig\.inputFormat\.assumeNewlineDelimited/],
  [{ type: 'json', flattenSpec: { fields: [{ type: 'jq', name: 'a', expr: '.b' }] } }, /fields\[0\]\.type: "jq" is not supported/],
  [{ type: 'json', flattenSpec: { useFieldDiscovery: 'maybe' } }, /useFieldDiscovery/],
  [{ type: 'csv' }, /^spec\.ioConfig\.inputFormat\.columns/],
  [{ type: 'csv', columns: ['a'], skipHeaderRows: -1 }, /skipHeaderRows/],
  [{ type: 'csv', columns: ['a'], tryParseNumbers: 7 }, /tryParseNumbers/],
  [{ type: 'tsv', columns: ['a'], delimiter: 'ab' }, /delimiter/],
  [{ type: 'regex', pattern: '(' }, /pattern|regular expression/i],
  [{ type: 'parquet', binaryAsString: 'maybe' }, /binaryAsString/],
  [{ type: 'avro_ocf', schema: 'record' }, /schema/],
  [{ type: 'avro_ocf', extractUnionsByType: 'maybe' }, /extractUnionsByType/],
  ...['orc', 'avro_stream', 'protobuf', 'thrift', 'kafka', 'kinesis', 'javascript'].map(
    (type) => [{ type }, /^spec\.ioConfig\.inputFormat\.type: .* is not supported/] as const,
  ),
];
for (const [format, says] of REFUSED_FORMATS)
  sweep(`refused: ${JSON.stringify(format)}`, () => assert.match(refusal(() => validateTask(formatTask(format, ''), 0)).message, says));

const S3 = { type: 's3', uris: ['s3://b/k'] };
const HTTP = { type: 'http', uris: ['http://h/a'] };
const SQL = {
  type: 'sql',
  sqls: ['SELECT 1'],
  database: { type: 'postgresql', connectorConfig: { connectURI: 'jdbc:postgresql://h/d', user: 'u', password: 'p' } },
};
const DRUID = { type: 'druid', dataSource: 'ds', interval: '2015/2016' };
/** Sources with each of their documented options. */
const SOURCES: readonly Json[] = [
  { type: 'inline', data: 'a' },
  { type: 'local', baseDir: '/d', filter: '*.json', systemFields: ['__file_uri', '__file_path'] },
  { type: 'local', files: ['/d/a'] },
  { ...HTTP, httpAuthenticationUsername: 'u', httpAuthenticationPassword: { type: 'environment', variable: 'V' } },
  { ...HTTP, httpAuthenticationPassword: 'secret', requestHeaders: { 'X-A': 'b' }, systemFields: ['__file_uri', '__file_path'] },
  { ...S3, systemFields: ['__file_uri', '__file_bucket', '__file_path'] },
  { type: 's3', prefixes: ['s3://b/p/'], objectGlob: '**.json' },
  { type: 's3', objects: [{ bucket: 'b', path: 'k' }] },
  {
    ...S3,
    endpointConfig: { url: 'http://h:1', signingRegion: 'eu' },
    clientConfig: { protocol: 'http', enablePathStyleAccess: true, disableChunkedEncoding: true, forceGlobalBucketAccessEnabled: false },
    properties: { accessKeyId: 'a', secretAccessKey: { type: 'default', password: 'b' }, sessionToken: 'c' },
  },
  { ...DRUID, filter: { type: 'true' } },
  { ...DRUID, dimensions: ['a'], metrics: ['b'], maxInputSegmentBytesPerTask: 1000 },
  { ...SQL, foldCase: true },
  { type: 'combining', delegates: [HTTP, S3] },
];
for (const source of SOURCES) sweep(`accepted: ${JSON.stringify(source)}`, () => void read(at(base, ['ioConfig', 'inputSource'], source)));

const REFUSED_SOURCES: readonly (readonly [source: Json, says: RegExp])[] = [
  [{ type: 'inline' }, /data/],
  [{ type: 'local', baseDir: '/d' }, /filter/],
  [{ type: 'local', files: 'a' }, /files/],
  [{ type: 'local', files: ['a'], systemFields: ['__file_bucket'] }, /systemFields/],
  [{ ...HTTP, uris: ['ftp://h/a'] }, /uris/],
  [{ ...HTTP, httpAuthenticationPassword: { type: 'vault' } }, /httpAuthenticationPassword\.type/],
  [{ ...S3, prefixes: ['s3://b/p'] }, /one of uris, prefixes and objects/],
  [{ ...S3, proxyConfig: { host: 'h' } }, /proxyConfig: .* is not supported/],
  [{ ...S3, properties: { assumeRoleArn: 'arn' } }, /assumeRoleArn: .* is not supported/],
  [{ ...S3, properties: { assumeRoleExternalId: 'x' } }, /assumeRoleExternalId: .* is not supported/],
  [{ ...S3, properties: { accessKeyId: 'a' } }, /secretAccessKey/],
  [{ ...S3, clientConfig: { enablePathStyleAccess: 'maybe' } }, /enablePathStyleAccess/],
  [{ ...S3, clientConfig: { disableChunkedEncoding: 'maybe' } }, /disableChunkedEncoding/],
  [{ ...S3, endpointConfig: { url: 7 } }, /endpointConfig\.url/],
  [{ ...DRUID, segments: [] }, /segments/],
  [{ ...DRUID, interval: 'yesterday' }, /interval/],
  [{ ...DRUID, maxInputSegmentBytesPerTask: 'few' }, /maxInputSegmentBytesPerTask/],
  [{ ...DRUID, dimensions: 'a' }, /dimensions/],
  [{ ...SQL, database: { ...SQL.database, driverClassName: 'x' } }, /driverClassName/],
  [{ ...SQL, foldCase: 'maybe' }, /foldCase/],
  [{ type: 'combining', delegates: [] }, /delegates/],
  ...['google', 'azure', 'azureStorage', 'hdfs', 'iceberg', 'delta'].map(
    (type) => [{ type }, /inputSource\.type: .* is not supported/] as const,
  ),
];
for (const [source, says] of REFUSED_SOURCES)
  sweep(`refused: ${JSON.stringify(source)}`, () =>
    assert.match(refusal(() => read(at(base, ['ioConfig', 'inputSource'], source))).message, says),
  );
for (const source of [
  HTTP,
  S3,
  SQL,
  DRUID,
  { type: 'inline', data: '' },
  { type: 'local', files: ['a'] },
  { type: 'combining', delegates: [HTTP] },
])
  sweep(`the source ${source.type} refuses a key that nobody knows`, () =>
    assert.match(
      refusal(() => read(at(base, ['ioConfig', 'inputSource'], { ...source, nobodyKnows: 1 }))).message,
      /inputSource: unknown key "nobodyKnows"/,
    ),
  );

/** Times by the format of the timestampSpec. */
const TIMES: readonly (readonly [format: string, text: string, time: string])[] = [
  ['iso', '2000-01-01T01:02:03.456', '2000-01-01T01:02:03.456Z'],
  ['posix', '946688523', '2000-01-01T01:02:03Z'],
  ['millis', '946688523456', '2000-01-01T01:02:03.456Z'],
  ['micro', '946688523456789', '2000-01-01T01:02:03.456Z'],
  ['nano', '946688523456789012', '2000-01-01T01:02:03.456Z'],
  ['auto', '2000-01-01 01:02:03', '2000-01-01T01:02:03Z'],
  ['auto', '946688523456', '2000-01-01T01:02:03.456Z'],
  ['dd.MM.yyyy HH:mm', '01.01.2000 01:02', '2000-01-01T01:02:00Z'],
];
for (const [format, text, time] of TIMES)
  sweep(`timestampSpec.format ${format} reads ${text}`, async () => {
    const schema = { timestampSpec: { column: 'time', format }, granularitySpec: { rollup: false } };
    const { outcome, rows } = await run(formatTask({ type: 'csv', columns: ['time', 'a'] }, `${text},x`, schema));
    assert.is(outcome.errorMessage, null);
    assert.equal(
      rows.map(({ __time }) => __time),
      [BigInt(Date.parse(time))],
    );
  });

sweep.run();
