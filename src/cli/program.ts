// The command line of `dolmen`: commands, flags and help.

import { Command, CommanderError, Option } from 'commander';
import { PROPERTIES, ROLES } from '../configuration/properties.js';
import { EXIT, EXIT_HELP, type ExitCode } from './exit-codes.js';
import { OUTPUT_FORMATS, type OutputFormat } from './formats.js';

const URL_HELP = 'address of the Router';
const DEFAULT_URL = 'http://127.0.0.1:8888';

const EXAMPLES = `
Examples:
  dolmen start                                            all six roles in this process, data in ./data
  dolmen start --roles historical --property svc.server.tier=hot
  dolmen sql -e "SELECT origin, COUNT(*) FROM flights GROUP BY 1 ORDER BY 2 DESC LIMIT 5"
  dolmen sql --format csv < questions.sql > answers.csv
  dolmen ingest events.json.gz --datasource events --granularity day
  kubectl logs app | dolmen ingest - --datasource logs --format json
`;

/** The command line of `dolmen`. */
export function createProgram(version: string): { run(words: readonly string[]): Promise<ExitCode> } {
  let code: ExitCode = EXIT.done;
  const program = new Command('dolmen')
    .description('A clustered analytics datastore: native JSON and SQL queries over column-oriented segments, on WebAssembly kernels.')
    .version(version)
    .exitOverride()
    .showSuggestionAfterError()
    .addHelpText('after', `${EXAMPLES}\n${EXIT_HELP}`);

  program
    .command('start')
    .description('start the server: all roles in one process, or some of them')
    .option('--roles <names>', `comma-separated, out of ${ROLES.join(', ')}`)
    .option('--data-dir <folder>', 'where segments, metadata and logs live (svc.data.directory)')
    .option('--port-offset <n>', 'added to every port, to run several on one machine')
    .option('--property <name=value>', 'sets one property; may be given several times', (value, all: readonly string[] = []) => [
      ...all,
      value,
    ])
    .option('--config <file>', 'a runtime.properties file; the environment (svc_host for svc.host) and --property are stronger')
    .option('--kernels <name>', 'simd, scalar, reference, or the path of a kernel module')
    .option('--strict', 'refuse to start with an unknown property, rather than warn')
    .option('--no-sample', 'do not load the sample data into a new data directory')
    .addHelpText('after', () => `\nProperties:\n${propertyHelp()}\n\n${EXIT_HELP}`)
    .action(
      async (options: {
        roles?: string;
        dataDir?: string;
        portOffset?: string;
        property?: readonly string[];
        config?: string;
        kernels?: string;
        strict?: true;
        sample: boolean;
      }) => {
        const { start } = await import('./start.js');
        const shorthand = {
          'svc.roles': options.roles,
          'svc.data.directory': options.dataDir,
          'svc.portOffset': options.portOffset,
          'svc.processing.kernels': options.kernels,
        };
        const flags = Object.entries(shorthand).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
        code = await start({
          version,
          flags: [...(options.property ?? []), ...flags],
          file: options.config,
          strict: options.strict === true,
          sample: options.sample,
        });
      },
    );

  program
    .command('sql')
    .description('ask questions: an interactive shell, or the statements given')
    .argument('[url]', URL_HELP, DEFAULT_URL)
    .option('-e, --execute <sql>', 'run these statements and leave')
    .option('-f, --file <file>', 'run the statements of a file and leave')
    .addOption(new Option('--format <name>', 'how answers are printed').choices([...OUTPUT_FORMATS]).default('table'))
    .option('--timing', 'tell rows and time after each answer (always in the shell)')
    .addHelpText(
      'after',
      `\nStatements end with a semicolon. In the shell, \\d lists tables, \\d NAME columns, \\? helps.\nWithout a terminal, statements are read from standard input.\n\n${EXIT_HELP}`,
    )
    .action(async (url: string, options: { execute?: string; file?: string; format: OutputFormat; timing?: true }) => {
      const { sqlCommand } = await import('./sql.js');
      code = await sqlCommand({
        url,
        format: options.format,
        timing: options.timing === true,
        ...given({ execute: options.execute, file: options.file }),
      });
    });

  program
    .command('ingest')
    .description('load files: json, csv, tsv, parquet, avro, arrow and others, also .gz, .zst, .bz2, .xz, .lz4, .sz and .zip')
    .argument('<inputs...>', 'files, folders, patterns such as "logs/**/*.json", URLs of http, https or s3; - is standard input')
    .option('--url <url>', URL_HELP, DEFAULT_URL)
    .option('--datasource <name>', 'table to load into (default: the name of the only file, folder or URL)')
    .option('--format <name>', 'format of the inputs (default: guessed from the name and beginning of the first one)')
    .option('--time-column <name>', 'column that becomes __time (default: guessed)')
    .option('--time-format <format>', 'iso, posix, millis, auto, or a pattern such as "yyyy/MM/dd HH:mm" (default: guessed)')
    .option('--granularity <name>', 'time chunk of a segment: hour, day, month, year, all', 'month')
    .option('--append', 'add to the table; without it, rows of the same time chunks are replaced')
    .addHelpText(
      'after',
      `\nFiles outside the folders that the server may read are linked or copied into one of them for the time of the task; URLs are read by the server.\nOf a folder, all files are read but empty ones and those whose names begin with . or _.\n\n${EXIT_HELP}`,
    )
    .action(
      async (
        inputs: readonly string[],
        options: {
          url: string;
          datasource?: string;
          format?: string;
          timeColumn?: string;
          timeFormat?: string;
          granularity: string;
          append?: true;
        },
      ) => {
        const { ingestCommand } = await import('./ingest/ingest.js');
        const { datasource: dataSource, format, timeColumn, timeFormat } = options;
        code = await ingestCommand(inputs, {
          url: options.url,
          granularity: options.granularity,
          append: options.append === true,
          ...given({ dataSource, format, timeColumn, timeFormat }),
        });
      },
    );

  const user = program.command('user').description('users that the server knows');
  user
    .command('add')
    .description('make a user; its password is the variable DOLMEN_PASSWORD, or a line of standard input')
    .argument('<name>', 'name of the user')
    .option('--role <name>', 'role that it gets', 'admin')
    .option('--authenticator <name>', 'authenticator that checks its password (default: the first one with users of its own)')
    .option('--authorizer <name>', 'authorizer that has the role (default: the first one with roles of its own)')
    .option('--data-dir <folder>', 'where the metadata lives (svc.data.directory)')
    .option('--config <file>', 'a runtime.properties file')
    .action(
      async (name: string, options: { role: string; authenticator?: string; authorizer?: string; dataDir?: string; config?: string }) => {
        const { userAdd } = await import('./user.js');
        const { role, authenticator, authorizer, dataDir, config: file } = options;
        const flags = dataDir === undefined ? [] : [`svc.data.directory=${dataDir}`];
        code = await userAdd(name, { flags, file, role, authenticator, authorizer });
      },
    );

  const metadata = program.command('metadata').description('the metadata store, while no server runs over it');
  for (const [verb, description] of [
    ['export', 'copy the metadata store into a new file of SQLite'],
    ['import', 'copy a file of SQLite into the metadata store, which must be new'],
  ] as const)
    metadata
      .command(verb)
      .description(description)
      .argument('<file>', 'path of the file, such as data/metadata.sqlite')
      .option('--data-dir <folder>', 'where the metadata lives (svc.data.directory)')
      .option('--property <name=value>', 'sets one property; may be given several times', (value, all: readonly string[] = []) => [
        ...all,
        value,
      ])
      .option('--config <file>', 'a runtime.properties file')
      .action(async (path: string, options: { dataDir?: string; property?: readonly string[]; config?: string }) => {
        const { metadataExport, metadataImport } = await import('./metadata.js');
        const flags = [...(options.property ?? []), ...(options.dataDir === undefined ? [] : [`svc.data.directory=${options.dataDir}`])];
        code = await (verb === 'export' ? metadataExport : metadataImport)(path, { flags, file: options.config });
      });

  for (const command of [...program.commands, ...user.commands, ...metadata.commands]) command.exitOverride();

  return {
    async run(words) {
      try {
        await program.parseAsync(words, { from: 'user' });
        return code;
      } catch (error) {
        // Its message, or the help that was asked for, is printed already.
        if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
        throw error;
      }
    },
  };
}

/** Leaves out what was not given, as optional properties are absent rather than undefined. */
function given<Options extends object>(options: Options): { [Key in keyof Options]?: Exclude<Options[Key], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Options]?: Exclude<Options[Key], undefined>;
  };
}

function propertyHelp(): string {
  return Object.entries(PROPERTIES)
    .map(
      ([name, { defaultText, meaning }]) => `  ${name} (${typeof defaultText === 'string' ? defaultText : 'by machine'})\n      ${meaning}`,
    )
    .join('\n');
}
