/** Puts the mail server into the configuration file of the daemon, and leaves all else in the file as it is. */
import { accessSync, constants, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isMap, parseDocument, stringify } from 'yaml';
import { type Owner, replacePrivateFile } from '../../system/private-file.ts';
import { replaceFile } from '../discover/host/replace-file.ts';
import { Failure } from '../failure/failure.ts';

export interface MailSettings {
  /** Without the password. */
  url: string;
  from: string;
  password: string | null;
}

export interface Place {
  config: string;
  /** Where the password goes. */
  password: string;
  /** Whether the service manager hands the password over, so that the configuration does not name its file. */
  isCredential: boolean;
  /** Who runs the daemon, and must be able to read the password; absent for this user. */
  owner?: Owner;
}

const SERVICE_CONFIG = '/etc/snitch/config.yaml';
const CREDENTIAL = '/etc/credstore/snitch.smtp-password';
const UNITS = ['/etc/systemd/system', '/usr/lib/systemd/system', '/lib/systemd/system'];

export function hasService(): boolean {
  return existsSync('/run/systemd/system') && UNITS.some((unit) => existsSync(join(unit, 'snitch.service')));
}

/** @param dataDir of the daemon, whose owner runs it */
export function placeFor(config: string, dataDir: string | null): Place {
  if (config === SERVICE_CONFIG && hasService()) return { config, password: CREDENTIAL, isCredential: true };
  const password = join(dirname(config), 'smtp-password');
  const owner = process.getuid?.() === 0 && dataDir !== null ? ownerOf(dataDir) : null;
  return { config, password, isCredential: false, ...(owner ? { owner } : {}) };
}

function ownerOf(path: string): Owner | null {
  try {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  } catch {
    return null;
  }
}

/** Whether this user may replace the file, or make it. */
export function mayWrite({ config }: Place): boolean {
  try {
    const real = existsSync(config) ? realpathSync(config) : config;
    // The directory can be made, too.
    const directory = existsSync(dirname(real)) ? dirname(real) : dirname(dirname(real));
    accessSync(directory, constants.W_OK | constants.X_OK);
    if (existsSync(real)) accessSync(real, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function section({ url, from, password }: MailSettings, place: Place): Record<string, string> {
  const named = password !== null && !place.isCredential;
  return { url, ...(named ? { password_file: place.password } : {}), from };
}

/** The lines to write by hand. */
export function mailLines(settings: MailSettings, place: Place): string[] {
  return stringify({ smtp: section(settings, place) }, { lineWidth: 0 })
    .trimEnd()
    .split('\n');
}

/** @throws Failure if the file is no valid YAML */
export function withMail(text: string, settings: MailSettings, place: Place): string {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  const isSections = document.contents === null || isMap(document.contents);
  if (document.errors.length > 0 || !isSections) {
    throw new Failure(`${place.config} is not valid: put it right first (\`snitch config check\`)`);
  }
  const lines = mailLines(settings, place).join('\n');
  if (!document.has('smtp')) {
    const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    return `${text}${gap}${lines}\n`;
  }
  if (!isMap(document.get('smtp', true))) document.set('smtp', document.createNode({}));
  const wanted = section(settings, place);
  if (wanted.password_file === undefined) document.deleteIn(['smtp', 'password_file']);
  for (const [name, value] of Object.entries(wanted)) document.setIn(['smtp', name], value);
  return document.toString({ lineWidth: 0 });
}

/** The password first, so that the configuration never names a file that is not there yet. */
export async function writeMail(settings: MailSettings, place: Place): Promise<void> {
  const path = existsSync(place.config) ? realpathSync(place.config) : place.config;
  const old = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const text = withMail(old, settings, place);
  mkdirSync(dirname(path), { recursive: true });
  if (settings.password !== null) {
    mkdirSync(dirname(place.password), { recursive: true, mode: 0o700 });
    await replacePrivateFile(place.password, `${settings.password}\n`, place.owner);
  }
  replaceFile(path, text, () => {
    const now = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (now !== old) throw new Failure(`${path} was changed meanwhile, and is left as it is: try again`);
  });
}
