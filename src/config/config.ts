/** Turns YAML and environment into one checked, frozen Config. All problems are reported together. */
import { isAbsolute, resolve } from 'node:path';
import type { z } from 'zod';
import { type LogSettings, redact } from '../log/logger.ts';
import { printable } from '../text/printable.ts';
import { editDistance } from '../text/similar.ts';
import { defaultDataDir } from './default-directory.ts';
import { ConfigError, type ConfigFile, type ConfigSource, readConfigFile } from './file.ts';
import { misspelledVariables } from './misspelled.ts';
import { readSecrets, type Secrets, withPassword } from './secrets.ts';
import {
  environmentVariable,
  type ListenAddress,
  PLACES,
  SECRET_SETTINGS,
  SETTING_NAMES,
  type Settings,
  settingsSchema,
} from './settings.ts';
import { type StorePlace, storePlace } from './store-place.ts';

export { ConfigError } from './file.ts';

export interface Config {
  /** Null if the data are in the data directory. */
  readonly store: StorePlace | null;
  readonly listen: ListenAddress;
  /** Null if it is derived from the address that the daemon actually listens on. */
  readonly baseUrl: string | null;
  /** Null for `/c` below the base address. */
  readonly checkInBase: string | null;
  readonly dataDir: string;
  /** Warnings, in words, about what works but is probably not what was meant. */
  readonly warnings: readonly string[];
  /** An admin key that was made elsewhere; null if the first start has to make one. */
  readonly adminKey: string | null;
  /** The files that the secrets were read from. */
  readonly secretFiles: Readonly<Secrets['files']>;
  readonly log: LogSettings;
  /** Null if email is off. The URL may contain a password. */
  readonly smtp: { readonly url: string; readonly from: string } | null;
  readonly webhooks: { readonly allowPrivate: boolean };
  readonly rateLimit: { readonly perMinute: number; readonly burst: number; readonly blockS: number };
  readonly retention: { readonly checkIns: number; readonly days: number };
  readonly trustedProxies: readonly string[];
  /** What channels of the kind `command` may run, by name: the program and its arguments. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly metrics: { readonly public: boolean };
  /** The URL at which the daemon itself checks in, which is a secret; null for none. */
  readonly watchdog: { readonly url: string | null; readonly intervalS: number };
}

export interface ConfigOptions extends ConfigSource {
  /** Whether the log goes to a person's terminal. It is `pretty` then, unless a format is set. */
  terminal?: boolean;
}

/**
 * An environment variable wins over the file; an empty one counts as absent.
 *
 * @throws ConfigError with every problem, each naming the setting and where it was set
 */
export async function loadConfig({ file, env, terminal = false }: ConfigOptions): Promise<Config> {
  const found = await readConfigFile({ file, env });
  const { values, variables } = applyEnvironment(found?.values ?? {}, env);
  const checked = settingsSchema.safeParse(values);
  if (!checked.success) {
    throw new ConfigError(describeIssues(checked.error.issues, { file: found, values, variables }));
  }
  const warning = relativeDataDir(checked.data.data_dir, { file: found, values, variables });
  return freeze({
    ...toConfig(checked.data, env, terminal),
    warnings: [
      ...(found?.warnings ?? []),
      ...(warning === null ? [] : [warning]),
      ...misspelledVariables(env),
    ],
  });
}

function toConfig(settings: Settings, env: NodeJS.ProcessEnv, terminal: boolean): Omit<Config, 'warnings'> {
  const secrets = readSecrets(settings, env);
  return {
    store: storePlace(settings.store, env),
    listen: settings.listen,
    baseUrl: settings.base_url ?? null,
    checkInBase: settings.check_in_base ?? null,
    dataDir: resolve(settings.data_dir ?? defaultDataDir(env)),
    adminKey: secrets.adminKey,
    secretFiles: secrets.files,
    log: { level: settings.log.level, format: settings.log.format ?? (terminal ? 'pretty' : 'json') },
    smtp: withPassword(settings.smtp, secrets.smtpPassword),
    webhooks: { allowPrivate: settings.webhooks.allow_private },
    rateLimit: {
      perMinute: settings.rate_limit.per_minute,
      burst: settings.rate_limit.burst,
      blockS: settings.rate_limit.block_s,
    },
    retention: { checkIns: settings.retention.check_ins, days: settings.retention.days },
    trustedProxies: settings.trusted_proxies,
    commands: settings.commands,
    metrics: { public: settings.metrics.public },
    watchdog: {
      url: secrets.watchdogUrl ?? settings.watchdog.url ?? null,
      intervalS: settings.watchdog.interval_s,
    },
  };
}

/** Warns of a relative path: a backup or a restart from another directory would use another data directory. */
function relativeDataDir(data_dir: string | undefined, { file, variables }: Origin): string | null {
  if (data_dir === undefined || isAbsolute(data_dir) || variables.has('data_dir')) return null;
  const line = file?.lineOf(['data_dir']);
  return printable(
    `${file?.path ?? ''}${line ? `:${line}` : ''}: data_dir: ${showValue(data_dir)} is not an absolute path, so it would depend on where snitch is started: write ${resolve(data_dir)}`,
  );
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) freeze(inner);
  }
  return Object.freeze(value);
}

/** The configuration for people to read, in the form and with the names of the file. Secrets are masked. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { listen, log, smtp, webhooks, rateLimit, retention, watchdog } = config;
  return {
    listen: describeListen(listen),
    base_url: config.baseUrl,
    check_in_base: config.checkInBase,
    data_dir: config.dataDir,
    admin_key_from: config.secretFiles.adminKey,
    store: { url: config.store?.shown ?? null, password_file: config.store?.passwordFile ?? null },
    log: { ...log },
    smtp: {
      url: smtp && maskCredentials(smtp.url),
      password_file: config.secretFiles.smtpPassword,
      from: smtp?.from ?? null,
    },
    webhooks: { allow_private: webhooks.allowPrivate },
    rate_limit: { per_minute: rateLimit.perMinute, burst: rateLimit.burst, block_s: rateLimit.blockS },
    retention: { check_ins: retention.checkIns, days: retention.days },
    trusted_proxies: [...config.trustedProxies],
    commands: Object.keys(config.commands).length > 0 ? { ...config.commands } : null,
    metrics: { ...config.metrics },
    watchdog: {
      url: watchdog.url && `${new URL(watchdog.url).origin}/***`,
      url_file: config.secretFiles.watchdogUrl,
      interval_s: watchdog.intervalS,
    },
  };
}

function describeListen(listen: ListenAddress): string {
  if (listen.kind === 'unix') return `unix:${listen.path}`;
  return `${listen.host.includes(':') ? `[${listen.host}]` : listen.host}:${listen.port}`;
}

/**
 * The user name at a mail server is worth showing, because it says who sends. Without a password it may be a secret
 * itself.
 */
function maskCredentials(text: string): string {
  const url = new URL(text);
  if (url.password) url.password = '***';
  else if (url.username) url.username = '***';
  return url.href;
}

interface Overlay {
  values: Record<string, unknown>;
  /** The variable that each setting was taken from, by the name of the setting. */
  variables: ReadonlyMap<string, string>;
}

function applyEnvironment(fromFile: Record<string, unknown>, env: NodeJS.ProcessEnv): Overlay {
  let values = fromFile;
  const variables = new Map<string, string>();
  for (const setting of SETTING_NAMES) {
    const variable = environmentVariable(setting);
    const text = env[variable];
    const place = PLACES.get(setting);
    if (!text || !place || !('read' in place)) continue;
    values = withValue(values, setting.split('.'), place.read(text));
    variables.set(setting, variable);
  }
  return { values, variables };
}

/** If a section of the file is not a map, it is left as it is, so the error points to the fault in the file. */
function withValue(
  values: Record<string, unknown>,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  if (rest.length === 0) return { ...values, [name]: value };
  const section = values[name] ?? {};
  if (typeof section !== 'object' || Array.isArray(section)) return values;
  return { ...values, [name]: withValue(section as Record<string, unknown>, rest, value) };
}

interface Origin extends Overlay {
  file: ConfigFile | null;
}

function describeIssues(issues: readonly z.core.$ZodIssue[], origin: Origin): string[] {
  const problems = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => describeUnknown(issue.path, key, origin))
      : [describeBadValue(issue, origin)],
  );
  problems.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  return [...new Set(problems.map(({ text }) => printable(redact(text))))];
}

interface Problem {
  line: number | null;
  text: string;
}

function inFile({ file }: Origin, line: number | null, text: string): Problem {
  const place = file && (line === null ? `${file.path}: ` : `${file.path}:${line}: `);
  return { line, text: `${place ?? ''}${text}` };
}

function describeUnknown(section: readonly PropertyKey[], key: string, origin: Origin): Problem {
  const name = settingName([...section, key]);
  const meant = closestPlace(name);
  const place = PLACES.get(settingName(section));
  const known = place && 'section' in place ? place.section.join(', ') : '';
  const advice = meant ? `did you mean ${meant}?` : `known here: ${known}`;
  return inFile(origin, origin.file?.lineOf(section, key) ?? null, `${name}: unknown setting; ${advice}`);
}

function describeBadValue(issue: z.core.$ZodIssue, origin: Origin): Problem {
  const name = settingName(issue.path);
  const setting = String(issue.path.filter((part) => typeof part !== 'number').join('.'));
  const text = `${name}: ${describeFaultyValue(issue, setting, origin)}`;
  const variable = origin.variables.get(setting);
  if (variable) {
    const place = PLACES.get(setting);
    const form = place && 'inVariable' in place && place.inVariable ? `; ${place.inVariable}` : '';
    return { line: null, text: `environment variable ${variable}: ${text}${form}` };
  }
  const line = origin.file?.lineOf(issue.path) ?? origin.file?.lineOf(issue.path.slice(0, -1)) ?? null;
  return inFile(origin, line, text);
}

function describeFaultyValue(issue: z.core.$ZodIssue, setting: string, { values }: Origin): string {
  if (issue.code === 'custom' && issue.params?.complete) return issue.message;
  const place = PLACES.get(setting);
  if (place && 'section' in place) return `must be a section with the settings ${place.section.join(', ')}`;
  const value = SECRET_SETTINGS.has(setting)
    ? 'the value (not shown, because it can hold a password)'
    : showValue(valueAt(values, issue.path));
  return `${value} is not allowed; it must be ${place?.allowed ?? 'something else'}`;
}

function valueAt(values: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (value as Record<PropertyKey, unknown> | null)?.[part],
    values,
  );
}

function showValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a section';
  const shown = JSON.stringify(value) ?? String(value);
  return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
}

/** `trusted_proxies[1]`, `rate_limit.per_minute` */
function settingName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, part) => {
    if (typeof part === 'number') return `${name}[${part}]`;
    return name === '' ? String(part) : `${name}.${String(part)}`;
  }, '');
}

/** The setting or section with the most similar name, if it is similar enough to have been meant. */
function closestPlace(name: string): string | null {
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '');
  const names = [...PLACES.keys()].filter((known) => known !== '');
  const ranked = names
    .map((known) => ({ known, distance: editDistance(plain(name), plain(known)) }))
    .sort((one, other) => one.distance - other.distance);
  const [best] = ranked;
  if (best && best.distance <= Math.min(2, plain(name).length / 3)) return best.known;
  const lastPart = plain(name.slice(name.lastIndexOf('.') + 1));
  return names.find((known) => plain(known).endsWith(lastPart) && lastPart.length > 2) ?? null;
}
