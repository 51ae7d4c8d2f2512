import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { Configuration, type ConfigurationSources } from '../../src/configuration/configuration.js';
import { PROPERTIES } from '../../src/configuration/properties.js';

const configuration = suite('configuration');
const machine = { cores: 8, memoryBytes: 16 * 2 ** 30 };
const read = (sources: ConfigurationSources = {}) => Configuration.read({ machine, ...sources });

configuration('every default is acceptable to its own property, on a small and on a large machine', () => {
  for (const each of [
    { cores: 1, memoryBytes: 2 ** 30 },
    { cores: 256, memoryBytes: 2 ** 42 },
  ])
    read({ machine: each });
  assert.ok(Object.keys(PROPERTIES).length > 20);
});

configuration('memory is divided from one budget, of which each share can be set by itself', () => {
  const mebibytes = (flags: readonly string[]) => {
    const found = read({ flags });
    const names = [
      'svc.processing.memoryBytes',
      'svc.processing.columnCacheBytes',
      'svc.query.maxMemoryBytes',
      'svc.cache.sizeInBytes',
    ] as const;
    return names.map((name) => found.get(name) / 2 ** 20);
  };
  // Two thirds for kernels, of which three quarters for columns and half for one query; a sixteenth for cached results.
  assert.equal(mebibytes(['svc.memory.bytes=768MiB']), [512, 384, 256, 48]);
  assert.equal(mebibytes(['svc.memory.bytes=768MiB', 'svc.processing.columnCacheBytes=100MiB']), [512, 100, 256, 48]);
  // Three quarters of the machine; a bank has at most 4 GiB.
  assert.is(read().get('svc.memory.bytes'), 12 * 2 ** 30);
  assert.equal(mebibytes([]), [4096, 3072, 2048, 512]);
});

configuration('the file is weaker than the environment, which is weaker than flags', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-configuration-'));
  const file = join(folder, 'runtime.properties');
  writeFileSync(file, '# comment\nsvc.broker.port=1001\nsvc.router.port : 1002\nsvc.historical.port=1003\nsvc.server.tier=a\\\n  b\n');
  try {
    const read3 = read({
      file,
      environment: { svc_router_port: '2002', svc_historical_port: '2003', HOME: '/root' },
      flags: ['svc.historical.port=3003'],
    });
    assert.is(read3.port('broker'), 1001);
    assert.is(read3.port('router'), 2002);
    assert.is(read3.port('historical'), 3003);
    assert.is(read3.get('svc.server.tier'), 'ab');
    assert.equal(read3.warnings, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const values = [
  { written: 'svc.server.http.maxRequestBytes=64MiB', name: 'svc.server.http.maxRequestBytes', value: 67_108_864 },
  { written: 'svc.server.http.maxRequestBytes=70000', name: 'svc.server.http.maxRequestBytes', value: 70_000 },
  { written: 'svc.server.http.maxRequestBytes=5 MB', name: 'svc.server.http.maxRequestBytes', value: 5_000_000 },
  { written: 'svc.coordinator.period=PT1M30S', name: 'svc.coordinator.period', value: 90_000 },
  { written: 'svc.coordinator.period=P1D', name: 'svc.coordinator.period', value: 86_400_000 },
  { written: 'svc.coordinator.period=250', name: 'svc.coordinator.period', value: 250 },
  { written: 'svc.server.hiddenProperties=a, b', name: 'svc.server.hiddenProperties', value: ['a', 'b'] },
  { written: 'svc.server.hiddenProperties=["a,b"]', name: 'svc.server.hiddenProperties', value: ['a,b'] },
  { written: 'svc.indexer.auditLog.enabled=true', name: 'svc.indexer.auditLog.enabled', value: true },
  { written: 'svc.storage.directory=/x/y', name: 'svc.storage.directory', value: '/x/y' },
  { written: 'svc.server.priority=-3', name: 'svc.server.priority', value: -3 },
] as const;
for (const { written, name, value } of values) {
  configuration(`reads ${written}`, () => assert.equal(read({ flags: [written] }).get(name), value));
}

configuration('paths are relative to the data directory, and that to the working directory', () => {
  const inData = read({ flags: ['svc.data.directory=some/where'] });
  assert.is(inData.get('svc.data.directory'), resolve('some/where'));
  assert.is(inData.get('svc.storage.directory'), resolve('some/where/deep-storage'));
  assert.equal(inData.get('svc.ingestion.local.allowedDirectories'), [resolve('some/where/input')]);
});

const refusals = [
  { written: 'svc.router.port=70000', says: /svc\.router\.port.*--property.*'70000'.*1 to 65535/ },
  { written: 'svc.router.port=8O', says: /svc\.router\.port.*'8O'.*integer/ },
  { written: 'svc.server.http.maxRequestBytes=1GB2', says: /maxRequestBytes.*'1GB2'.*bytes/ },
  { written: 'svc.indexer.auditLog.enabled=yes', says: /auditLog.*'yes'.*true or false/ },
  { written: 'svc.log.level=loud', says: /'loud'.*trace, debug/ },
  { written: 'svc.coordinator.period=P1M', says: /'P1M'.*PT5M/ },
  { written: 'svc.coordinator.period=PT', says: /'PT'/ },
  { written: 'svc.server.hiddenProperties=[1]', says: /'\[1\]'.*JSON array/ },
  { written: 'svc.storage.directory=', says: /path/ },
  { written: 'svc.roles=router,brokr', says: /'brokr'.*router, broker/ },
  { written: 'svc.roles=', says: /at least one role/ },
  { written: 'svc.server.http.apiName=Druid/', says: /lower-case word/ },
  { written: 'svc.portOffset=60000', says: /below 65536/ },
  { written: 'novalue', says: /--property.*name=value/ },
];
for (const { written, says } of refusals) {
  configuration(`refuses ${written}`, () => {
    assert.throws(
      () => read({ flags: [written] }),
      (error: unknown) => error instanceof ServiceError && error.code === 'input_invalid' && says.test(error.message),
    );
  });
}

configuration('an unknown property is reported with the nearest known one; strictly, refused', () => {
  const flags = ['svc.processing.numThread=2', 'other=1'];
  const { warnings } = read({ flags });
  assert.is(warnings.length, 2);
  assert.match(warnings[0] ?? '', /svc\.processing\.numThread .*did you mean svc\.processing\.numThreads\?/);
  assert.throws(
    () => read({ flags, strict: true }),
    (error: unknown) => error instanceof ServiceError && error.code === 'input_invalid',
  );
});

configuration('a missing file is an error that names it', () => {
  assert.throws(
    () => read({ file: '/nowhere/runtime.properties' }),
    (error: unknown) => error instanceof ServiceError && error.message.includes('/nowhere/runtime.properties'),
  );
});

const lists: readonly {
  readonly name: 'svc.ingestion.http.allowedProtocols' | 'svc.ingestion.http.allowedHosts' | 'svc.ingestion.http.allowedAddresses';
  readonly accepted: readonly (readonly [written: string, value: readonly string[]])[];
  readonly refused: readonly string[];
}[] = [
  {
    name: 'svc.ingestion.http.allowedProtocols',
    accepted: [
      ['["https"]', ['https']],
      ['HTTP, https', ['http', 'https']],
      ['[]', []],
    ],
    refused: ['["ftp"]', '["http:"]', '[1]', '["file","http"]'],
  },
  {
    name: 'svc.ingestion.http.allowedHosts',
    accepted: [
      ['["Data.Example.com.","*.example.org"]', ['data.example.com', '*.example.org']],
      ['bücher.example', ['xn--bcher-kva.example']],
      ['["0x7f.1","::1","[::1]"]', ['127.0.0.1', '[::1]', '[::1]']],
    ],
    refused: ['["http://a"]', '["a:80"]', '["[::1]:80"]', '["a/b"]', '["u@a"]', '["*"]', '["a.*.b"]', '["*.*.b"]', '[""]', '["256.1"]'],
  },
  {
    name: 'svc.ingestion.http.allowedAddresses',
    accepted: [
      ['["10.0.0.0/8","127.0.0.1"]', ['10.0.0.0/8', '127.0.0.1']],
      ['fd00::/8, ::1', ['fd00::/8', '::1']],
    ],
    refused: ['["localhost"]', '["10.0.0.0/33"]', '["::/129"]', '["127.1"]', '["fe80::1%eth0"]', '["10.0.0.0/"]', '["[::1]"]', '[""]'],
  },
];
for (const { name, accepted, refused } of lists)
  configuration(`${name} is read once, and wrong entries are refused`, () => {
    for (const [written, value] of accepted) assert.equal(read({ flags: [`${name}=${written}`] }).get(name), value, written);
    for (const written of refused)
      assert.throws(
        () => read({ flags: [`${name}=${written}`] }),
        (error: Error) => error.message.includes(name),
        written,
      );
  });

configuration('hidden properties are not visible', () => {
  const shown = read({ flags: ['svc.server.hiddenProperties=["TIER"]', 'svc.server.tier=secretive'] }).visibleProperties();
  assert.not('svc.server.tier' in shown);
  assert.is(shown['svc.broker.port'], '8082');
  for (const value of Object.values(shown)) assert.type(value, 'string');
});

configuration('a child process reads the same values from toFlags', () => {
  const parent = read({ environment: { svc_server_tier: 'hot' }, flags: ['svc.data.directory=d', 'svc.portOffset=7'] });
  const child = read({ flags: parent.toFlags() });
  assert.equal(child.visibleProperties(), parent.visibleProperties());
  assert.is(child.get('svc.data.directory'), resolve('d'));
  assert.is(child.port('router'), 8895);
});

configuration('coordinator and overlord share a port; roles come in one order', () => {
  const some = read({ flags: ['svc.roles=overlord,coordinator,overlord'] });
  assert.equal(some.roles(), ['coordinator', 'overlord']);
  assert.is(some.port('overlord'), some.port('coordinator'));
});

configuration.run();
