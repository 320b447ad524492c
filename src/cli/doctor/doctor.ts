/** `snitch doctor`: checks everything that alerts depend on, on this host and at the server. */
import type { Config } from '../../config/config.ts';
import type { StorePlace } from '../../config/store-place.ts';
import { concernOf } from '../../daemon/data-directory.ts';
import { concernOfPlace } from '../../daemon/data-place.ts';
import { hasRoomForFiles } from '../../system/writing.ts';
import { shellWord } from '../../text/shell-word.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { isUndecided } from '../command/connection.ts';
import { readCli } from '../command/settings-files.ts';
import type { ConfigFlags } from '../daemon/config.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { describeFailure } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { exposedKeyFiles } from '../server/exposed.ts';
import { asOwner, asRoot } from './as-root.ts';
import { type Finding, failure, ok, printFindings, warning } from './findings.ts';
import { checkEmail } from './mail.ts';
import { checkServer } from './server.ts';

interface DoctorFlags extends ClientFlags, ConfigFlags {
  send?: string;
}

const GIGABYTE = 1024 ** 3;
const LITTLE_SPACE = GIGABYTE;
const NO_SPACE = GIGABYTE / 10;

export const register: Register = (program, finish) => {
  const doctor = program
    .command('doctor')
    .description('look for anything that would keep an alert from being sent, and say what to do about it')
    .option('--send <address>', 'also send a test mail to it, and a test alert to each webhook')
    .option('--config <file>', 'configuration file of the daemon')
    .action(async (flags: DoctorFlags) => finish(await examine(flags)));
  addClientOptions(doctor);
  withExamples(doctor, 'snitch doctor', 'snitch doctor --send ops@example.com', 'snitch doctor --json');
  doctor.addHelpText('after', '\nExit codes: 0 nothing is broken (there may be warnings), 1 something is.');
};

async function examine(flags: DoctorFlags): Promise<number> {
  const { findings: configuration, config, dataDir } = await checkConfiguration(flags);
  const place = placeOf(dataDir === undefined ? flags : { ...flags, dataDir }, config);
  const email = checkEmail(place, config, flags.send ?? null);
  const findings = [
    ...configuration,
    ...checkCliFile(),
    ...(config === null ? [] : await checkHost(config)),
    ...unlessKnown(configuration, await checkServer(place, flags.send !== undefined)),
    ...[await email].filter((finding) => finding !== null),
  ];
  printFindings(findings, flags);
  return findings.some(({ state }) => state === 'failure') ? EXIT.error : EXIT.ok;
}

/** The database has the clocks of all nodes, including the node that answers, which would be reported twice. */
function unlessKnown(known: readonly Finding[], findings: Finding[]): Finding[] {
  const isKnown = known.some(({ check }) => check === 'clocks');
  return findings.filter(({ check }) => !(isKnown && check === 'clocks'));
}

/** If the host of a node has no credentials.yaml, the node is asked at the address that its configuration listens on. */
function placeOf<Flags extends ClientFlags>(flags: Flags, config: Config | null): Flags {
  const { listen } = config ?? {};
  if (listen?.kind !== 'tcp' || listen.port === 0 || !isUndecided(flags)) return flags;
  const host = ANY_ADDRESS.has(listen.host) ? '127.0.0.1' : listen.host;
  return { ...flags, url: `http://${host.includes(':') ? `[${host}]` : host}:${listen.port}` };
}

const ANY_ADDRESS = new Set(['0.0.0.0', '::', '']);

interface Configuration {
  findings: Finding[];
  /** Null if it cannot be used. */
  config: Config | null;
  /** The data directory, if the configuration names one. */
  dataDir?: string;
}

async function checkConfiguration({ config: file }: ConfigFlags): Promise<Configuration> {
  const [{ loadConfig }, { readConfigFile }, { exposedSecrets }, { unreadableFiles }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../config/file.ts'),
    import('../../config/exposed-secrets.ts'),
    import('../../config/unreadable-files.ts'),
  ]);
  try {
    const config = await loadConfig({ file, env: process.env });
    const found = await readConfigFile({ file, env: process.env });
    const exposed = exposedSecrets(found, config);
    const valid = ok('configuration', found ? `${found.path} is valid` : 'no file; defaults and environment');
    const findings = [
      valid,
      ...config.warnings.map((message) =>
        warning('configuration', message, 'correct the setting named here'),
      ),
      ...exposed.map(({ message, remedy }) => warning('secrets', message, remedy)),
      ...unreadableFiles(found, config).map(({ message, remedy }) =>
        warning('configuration', message, remedy),
      ),
    ];
    const isSet = found?.values.data_dir !== undefined || Boolean(process.env.SNITCH_DATA_DIR);
    return { findings, config, ...(isSet ? { dataDir: config.dataDir } : {}) };
  } catch (error) {
    const { lines } = describeFailure(error);
    return { findings: lines.map(describeProblem), config: null };
  }
}

/** If only this user may not read a file, nothing is wrong with the configuration. */
function describeProblem(line: string): Finding {
  const isForbidden = /permission denied|\(EACCES\)/.test(line) && process.getuid?.() !== 0;
  return failure(
    'configuration',
    line,
    isForbidden ? asRoot('snitch doctor') : 'correct it, then run `snitch config check`',
  );
}

/** Keys of this user that others could read, and settings that do nothing. Problems with the file itself are reported when it is used. */
function checkCliFile(): Finding[] {
  try {
    const cli = readCli(process.env);
    const exposed = exposedKeyFiles(cli).map((path) =>
      warning(
        'secrets',
        `every user of this host can read ${path}, which holds a key`,
        `chmod 600 ${shellWord(path)}`,
      ),
    );
    const odd = cli.oddities.map((words) =>
      warning('cli.yaml', `${cli.path}: ${words}`, 'correct or remove that line'),
    );
    return [...exposed, ...odd];
  } catch {
    return [];
  }
}

async function checkHost(config: Config): Promise<Finding[]> {
  const directory = checkDataDir(config.dataDir);
  if (directory.remedy?.startsWith(ELSEWHERE)) return [directory];
  const store =
    config.store === null
      ? [await checkStore(config.dataDir)]
      : await checkShared(config.store, config.dataDir);
  return [directory, ...store, checkLinks(config)];
}

/** The address that the daemon listens on may only work on its own host, so a link to it would lead nowhere. */
function checkLinks({ baseUrl }: Config): Finding {
  if (baseUrl !== null) return ok('links', `alerts are acknowledged at ${baseUrl}`);
  const remedy =
    'set base_url to the address at which people reach the daemon, and restart it; if the daemon reads another file, name that with --config';
  const message = 'alerts have no link to acknowledge them: base_url is not set in this configuration';
  return warning('links', message, remedy);
}

/** The PostgreSQL client is loaded only if it is needed. */
async function checkShared(place: StorePlace, dataDir: string): Promise<Finding[]> {
  const { checkPostgres } = await import('./postgres.ts');
  return checkPostgres(place, dataDir);
}

const ELSEWHERE = 'if the daemon runs as another user or on another host, run `snitch doctor` there';

const NO_FILES = 'delete files on its file system (`df -i` counts them): the daemon will not start again';

function checkDataDir(dataDir: string): Finding {
  const { accessSync, constants, statfsSync, statSync } = process.getBuiltinModule('node:fs');
  const check = 'data directory';
  try {
    const { mode, uid } = statSync(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(dataDir);
    const free = bavail * bsize;
    const shown = `${dataDir}, ${(free / GIGABYTE).toFixed(1)} GB free`;
    if (free < NO_SPACE)
      return failure(check, shown, 'free some space: with a full disk, check-ins are refused');
    if (!hasRoomForFiles(dataDir)) return failure(check, `${dataDir} has room for no more files`, NO_FILES);
    const concern = concernOf(dataDir) ?? concernOfPlace(dataDir);
    if (concern?.refused)
      return failure(check, `${concern.message}: the daemon will not start again`, concern.remedy);
    if (free < LITTLE_SPACE)
      return warning(check, shown, 'free some space: with a full disk, check-ins are refused');
    if (concern) return warning(check, concern.message, concern.remedy);
    if ((mode & 0o077) !== 0)
      return warning(check, `${dataDir} is open to other users`, asOwner(`chmod 700 ${dataDir}`, uid));
    return ok(check, shown);
  } catch (error) {
    return describeUnusable(dataDir, (error as NodeJS.ErrnoException).code);
  }
}

function describeUnusable(dataDir: string, code: string | undefined): Finding {
  const what = code === 'ENOENT' ? 'does not exist' : `cannot be used: ${code}`;
  const isForbidden = code === 'EACCES' || code === 'EPERM';
  const remedy = isForbidden ? `${ELSEWHERE}; here: ${asRoot('snitch doctor')}` : ELSEWHERE;
  return warning('data directory', `${dataDir} ${what}`, remedy);
}

/** Its memory and its open file may have the only copy of what is missing. */
const STOP_FIRST = `if the daemon still runs, stop it in an orderly way (${asRoot('systemctl stop snitch.socket snitch')}, or SIGTERM): it then saves what it has, and says where`;

async function checkStore(dataDir: string): Promise<Finding> {
  const { inspectDatabase, lossIn } = await import('../../store/sqlite/copy.ts');
  try {
    const content = inspectDatabase(dataDir);
    const loss = content === null ? lossIn(dataDir) : null;
    if (loss) return failure('store', loss.message, [STOP_FIRST, ...loss.remedies].join('. '));
    if (content === null) return warning('store', 'there is no database yet', '`snitch serve` creates it');
    const { snitches, cases } = content;
    const counts = `${countOf(snitches, 'snitch', 'snitches')} in ${countOf(cases, 'case', 'cases')}`;
    return ok('store', `whole; ${counts}`);
  } catch (error) {
    const [message = ''] = describeFailure(error).lines;
    const damaged = message.includes('damaged') || message.includes('no database');
    const remedy = damaged
      ? `stop the daemon and restore a backup: ${asRoot('snitch restore FILE')}`
      : ELSEWHERE;
    return failure('store', message, remedy);
  }
}
