/** Reads `cli.yaml` of this user, and `credentials.yaml` of a daemon on this host. */
import { faultOfReading, LARGEST_SETTINGS, readWholeText } from '../../system/reading.ts';
import { Failure } from '../failure/failure.ts';
import { configHome, stateHome } from './home.ts';
import { parseCliYaml, parsePlainYaml, type Settings } from './plain-yaml.ts';

// An import of `node:path` would evaluate all its exports; this takes what is already loaded.
const { join } = process.getBuiltinModule('node:path');

export interface SettingsFile {
  path: string;
  values: Settings;
}

export interface CliFile extends SettingsFile {
  /** The servers that it names, in its order. */
  servers: ReadonlyMap<string, Settings>;
  /** What of it does nothing, in words. */
  oddities: readonly string[];
  /** Set if the file says nothing because this user may not read it, rather than because it does not exist. */
  isForbidden: boolean;
}

export interface Files {
  cli: CliFile;
  credentials: SettingsFile;
  /** Files that this user may not read, if they exist at all. */
  forbidden: readonly string[];
}

/** Without `HOME`, as under some crons, it is below the home directory that the system has for this user. */
export function cliPath(env: NodeJS.ProcessEnv): string {
  return join(configHome(env), 'snitch', 'cli.yaml');
}

/** @param dataDir the data directory of the daemon, if that is known */
export function readFiles(env: NodeJS.ProcessEnv, dataDir: string | undefined): Files {
  const cli = readCli(env);
  const candidates = dataDirs(env, dataDir).map((directory) => join(directory, 'credentials.yaml'));
  const forbidden: string[] = [];
  for (const path of candidates) {
    const text = textOf(path);
    if (text === FORBIDDEN) forbidden.push(path);
    else if (text !== null)
      return { cli, credentials: { path, values: parsed(path, text, parsePlainYaml) }, forbidden };
  }
  return { cli, credentials: { path: candidates[0] ?? '', values: {} }, forbidden };
}

/** @throws Failure that names the file and the line */
export function readCli(env: NodeJS.ProcessEnv): CliFile {
  const path = cliPath(env);
  const text = textOf(path);
  if (text === null || text === FORBIDDEN) {
    return { path, values: {}, servers: new Map(), oddities: [], isForbidden: text !== null };
  }
  return { path, ...parsed(path, text, parseCliYaml), isForbidden: false };
}

/** Where the daemon of this user, or of the system, may keep its data. The daemon itself looks in the same order. */
function dataDirs(env: NodeJS.ProcessEnv, known: string | undefined): string[] {
  if (known !== undefined) return [known];
  if (env.SNITCH_DATA_DIR) return [env.SNITCH_DATA_DIR];
  const fromUnit = env.STATE_DIRECTORY?.split(':')[0];
  const configured = configuredDataDir(env.SNITCH_CONFIG || '/etc/snitch/config.yaml');
  const all = [configured, fromUnit, join(stateHome(env), 'snitch'), '/var/lib/snitch'];
  return all.filter((directory) => directory !== undefined && directory !== '') as string[];
}

/** `data_dir` of the daemon's configuration, if it has its own line, as it nearly always does. */
function configuredDataDir(path: string): string | undefined {
  try {
    const [line] = /^data_dir:[ \t].*$/m.exec(readWholeText(path, LARGEST_SETTINGS)) ?? [];
    const directory = line === undefined ? undefined : parsePlainYaml(line).data_dir;
    return directory?.startsWith('/') ? directory : undefined;
  } catch {
    return undefined;
  }
}

const FORBIDDEN = Symbol('forbidden');

/** Null if there is no such file. */
function textOf(path: string): string | typeof FORBIDDEN | null {
  try {
    return readWholeText(path, LARGEST_SETTINGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    if (code === 'EACCES' || code === 'EPERM') return FORBIDDEN;
    throw new Failure(`cannot read ${path}: ${faultOfReading(error)}`);
  }
}

function parsed<T>(path: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    throw new Failure(`cannot read ${path}: ${(error as Error).message}`);
  }
}
