import { holds, lengths, most, sum, type Words } from './words.js';

/** Functions of `__time`. */
export const OF_TIME: readonly Words[] = [
  ...['SECOND', 'MINUTE', 'HOUR', 'DAY', 'DOW', 'DOY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR', 'EPOCH'].map(
    (unit): Words => [
      `EXTRACT ${unit}`,
      sum(`EXTRACT(${unit} FROM __time)`),
      unit === 'EPOCH' ? sum('CAST(FLOOR(EXTRACT(EPOCH FROM __time)) AS BIGINT)') : unit === 'DOW' ? null : undefined,
    ],
  ),
  ...(
    [
      ['PT1M', 'minute'],
      ['PT1H', 'hour'],
      ['P1D', 'day'],
      ['P1W', 'week'],
      ['P1M', 'month'],
      ['P1Y', 'year'],
    ] as const
  ).map(
    ([period, unit]): Words => [`TIME_FLOOR ${period}`, most(`TIME_FLOOR(__time, '${period}')`), most(`date_trunc('${unit}', __time)`)],
  ),
  [
    'TIME_FLOOR in a zone',
    most("TIME_FLOOR(__time, 'P1D', NULL, 'America/New_York')"),
    most("date_trunc('day', timezone('America/New_York', timezone('UTC', __time))) + INTERVAL 4 HOUR"),
  ],
  ['TIME_SHIFT', most("TIME_SHIFT(__time, 'P1D', 1)"), most('__time + INTERVAL 1 DAY')],
  ['TIME_CEIL', most("TIME_CEIL(__time, 'PT1H')"), null],
  ['TIMESTAMPADD', most('TIMESTAMPADD(HOUR, 5, __time)'), most('__time + INTERVAL 5 HOUR')],
  [
    'TIMESTAMPDIFF',
    sum("TIMESTAMPDIFF(HOUR, TIMESTAMP '2023-01-01 00:00:00', __time)"),
    sum("date_sub('hour', TIMESTAMP '2023-01-01 00:00:00', __time)"),
  ],
  ['TIME_FORMAT', lengths("TIME_FORMAT(__time, 'yyyy-MM-dd HH')"), lengths("strftime(__time, '%Y-%m-%d %H')")],
  ['CAST AS DATE', most('CAST(__time AS DATE)')],
  ['CAST AS VARCHAR', lengths('CAST(__time AS VARCHAR)'), lengths("strftime(__time, '%Y-%m-%d %H:%M:%S')")],
  ['MILLIS', most('TIMESTAMP_TO_MILLIS(__time)'), most('epoch_ms(__time)')],
  ['comparison', holds("__time > TIMESTAMP '2023-09-01 00:00:00'")],
  ['CASE on time', sum("CASE WHEN __time > TIMESTAMP '2023-09-01 00:00:00' THEN tiny ELSE 0 END")],
  ['DATE_TRUNC', most("DATE_TRUNC('month', __time)")],
  ['FLOOR TO DAY', most('FLOOR(__time TO DAY)'), most("date_trunc('day', __time)")],
  ['CEIL TO HOUR', most('CEIL(__time TO HOUR)'), null],
  ['TIME_FLOOR PT15M', most("TIME_FLOOR(__time, 'PT15M')"), most("time_bucket(INTERVAL '15 minutes', __time)")],
  ['TIME_FLOOR P3M', most("TIME_FLOOR(__time, 'P3M')"), most("date_trunc('quarter', __time)")],
  [
    'COUNT DISTINCT of TIME_FLOOR',
    "COUNT(DISTINCT TIME_FLOOR(__time, 'PT5M'))",
    "COUNT(DISTINCT time_bucket(INTERVAL '5 minutes', __time))",
  ],
  ['TIME_EXTRACT', sum("TIME_EXTRACT(__time, 'HOUR')"), sum('EXTRACT(HOUR FROM __time)')],
  ['TIME_EXTRACT in a zone', sum("TIME_EXTRACT(__time, 'HOUR', 'Asia/Tokyo')"), sum('EXTRACT(HOUR FROM __time + INTERVAL 9 HOUR)')],
  ['TIME_SHIFT of a month', most("TIME_SHIFT(__time, 'P1M', 1)"), most('__time + INTERVAL 1 MONTH')],
  ['TIMESTAMPADD of a column', most('TIMESTAMPADD(MINUTE, tiny, __time)'), most('__time + to_minutes(tiny)')],
  ['minus INTERVAL', most("__time - INTERVAL '1' MONTH"), most('__time - INTERVAL 1 MONTH')],
  [
    'TIMESTAMPDIFF DAY',
    sum("TIMESTAMPDIFF(DAY, TIMESTAMP '2023-01-01 00:00:00', __time)"),
    sum("date_sub('day', TIMESTAMP '2023-01-01 00:00:00', __time)"),
  ],
  [
    'TIMESTAMPDIFF MONTH',
    sum("TIMESTAMPDIFF(MONTH, TIMESTAMP '2023-01-01 00:00:00', __time)"),
    sum("date_sub('month', TIMESTAMP '2023-01-01 00:00:00', __time)"),
  ],
  [
    'TIME_IN_INTERVAL',
    holds("TIME_IN_INTERVAL(__time, '2023-07-01/2023-08-01')"),
    holds("__time >= TIMESTAMP '2023-07-01' AND __time < TIMESTAMP '2023-08-01'"),
  ],
  ['TIME_FORMAT of a day', lengths("TIME_FORMAT(__time, 'EEEE')"), lengths("strftime(__time, '%A')")],
  ['TIME_FORMAT in a zone', lengths("TIME_FORMAT(__time, 'HH:mm', 'Asia/Tokyo')"), lengths("strftime(__time + INTERVAL 9 HOUR, '%H:%M')")],
  ['minute of the day', sum('EXTRACT(HOUR FROM __time) * 60 + EXTRACT(MINUTE FROM __time)')],
  ['hours BETWEEN', holds('EXTRACT(HOUR FROM __time) BETWEEN 9 AND 17')],
  ['SUBSTRING of the text', lengths('SUBSTRING(CAST(__time AS VARCHAR), 1, 7)'), lengths("SUBSTRING(strftime(__time, '%Y-%m-%d'), 1, 7)")],
  ['LATEST time', "MAX(__time) FILTER (WHERE low LIKE 'a%')"],
];
