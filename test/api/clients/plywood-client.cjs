// plywood, which Turnilo is made of: introspection and queries; prints a name, a tab, what came back as JSON.
const [, , folder, host] = process.argv;
const { External, ply, $ } = require(`${folder}/plywood`);
const { druidRequesterFactory } = require(`${folder}/plywood-druid-requester`);

const requester = druidRequesterFactory({ host, timeout: 30000 });
const show = (name, value) => console.log(`${name}\t${JSON.stringify(value)}`);

async function main() {
  const described = {
    engine: 'druid',
    source: 'orders',
    timeAttribute: '__time',
    version: '24.0.0',
    context: {},
    allowSelectQueries: true,
  };
  const external = await External.fromJS(described, requester).introspect();
  const names = external.toJS().attributes.map(({ name }) => name);
  show('introspection', [names.includes('__time'), names.includes('label')]);
  const all = $('orders').filter($('__time').overlap({ start: new Date('2000-01-01'), end: new Date('2100-01-01') }));
  const compute = (expression) => expression.compute({ orders: external });
  const total = await compute(ply().apply('orders', all).apply('rows', $('orders').count()));
  show('count', total.toJS().data[0].rows);
  const split = ply()
    .apply('orders', all)
    .apply('countries', $('orders').split('$label', 'label').apply('rows', $('orders').count()).sort('$rows', 'descending').limit(2));
  show('split', (await compute(split)).toJS().data[0].countries.data.length);
  const byDay = ply()
    .apply('orders', all)
    .apply('days', $('orders').split($('__time').timeBucket('P1D', 'Etc/UTC'), 'day').apply('rows', $('orders').count()).limit(3));
  show('time', (await compute(byDay)).toJS().data[0].days.data.length > 0);
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
