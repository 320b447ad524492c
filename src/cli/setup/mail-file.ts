/** Puts the mail server into the configuration file of the daemon, and leaves all else in the file as it is. */

import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Document, isMap, isScalar, parseDocument, type Scalar, stringify } from 'yaml';
import { type Owner, replacePrivateFile } from '../../system/private-file.ts';
import { LARGEST_SETTINGS, readWholeText } from '../../system/reading.ts';
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

/** Whether this user can replace the file, or create it. */
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

/** @throws Failure if the file is not valid YAML */
export function withMail(text: string, settings: MailSettings, place: Place): string {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  const isSections = document.contents === null || isMap(document.contents);
  if (document.errors.length > 0 || !isSections) {
    throw new Failure(`${place.config} is not valid: correct it first (\`snitch config check\`)`);
  }
  const lines = mailLines(settings, place).join('\n');
  if (!document.has('smtp')) {
    const gap = text === '' || text.endsWith('\n\n') ? '' : text.endsWith('\n') ? '\n' : '\n\n';
    return `${text}${gap}${lines}\n`;
  }
  const wanted = section(settings, place);
  const byLine = editLines(text, document, wanted);
  if (byLine !== null) return byLine;
  // Another form of YAML, such as `smtp: {}`: its values are kept, and its comments as far as the library keeps them.
  document.set('smtp', document.createNode(wanted));
  return document.toString({ lineWidth: 0 });
}

const NAMES = ['url', 'password_file', 'from'];

/**
 * Changes only the lines of the settings themselves: the library would move comments that follow an empty value.
 *
 * @returns null for a section that is not one line for each setting
 */
function editLines(text: string, document: Document, wanted: Record<string, string>): string | null {
  const lines = text.split('\n');
  const smtp = document.get('smtp', true);
  const pairs = isMap(smtp) && !smtp.flow ? smtp.items : [];
  const missing: string[] = [];
  let indent = '  ';
  for (const name of NAMES) {
    const pair = pairs.find(({ key }) => isScalar(key) && key.value === name);
    const number = isScalar(pair?.key) ? lineOf(text, pair.key) : -1;
    const value = wanted[name];
    const said = value === undefined ? '' : ` ${stringify(value, { lineWidth: 0 }).trimEnd()}`;
    const before = /^\s*/.exec(lines[number] ?? '')?.[0] ?? '';
    if (number >= 0) {
      lines[number] = `${before}${name}:${said}${commentAfter(text, pair?.value, lines[number] ?? '')}`;
      indent = before;
    } else if (value !== undefined) missing.push(`${name}:${said}`);
  }
  const heading = lines.findIndex((line) => /^smtp:\s*(#.*)?$/.test(line));
  if (heading < 0) return null;
  lines.splice(heading + 1, 0, ...missing.map((line) => `${indent}${line}`));
  const edited = lines.join('\n');
  return isAsWanted(edited, document, wanted) ? edited : null;
}

/** What follows a value on its line. */
function commentAfter(text: string, value: unknown, line: string): string {
  const end = isScalar(value) && value.value !== null ? value.range?.[1] : undefined;
  if (end === undefined) return /:(\s+#.*)?$/.exec(line)?.[1] ?? '';
  return text.slice(end).split('\n', 1)[0] ?? '';
}

function lineOf(text: string, { range }: Scalar): number {
  return range ? text.slice(0, range[0]).split('\n').length - 1 : -1;
}

/** Whether the new text has the wanted settings, and everything else as before. */
function isAsWanted(text: string, before: Document, wanted: Record<string, string>): boolean {
  const after = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  if (after.errors.length > 0) return false;
  const { smtp, ...others } = after.toJS() as Record<string, unknown>;
  const { smtp: _, ...othersBefore } = before.toJS() as Record<string, unknown>;
  const set = Object.entries((smtp ?? {}) as Record<string, unknown>).filter(([, value]) => value !== null);
  const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
  return same(others, othersBefore) && same(set.sort(), Object.entries(wanted).sort());
}

/** The password first, so the configuration never names a file that does not exist yet. */
export async function writeMail(settings: MailSettings, place: Place): Promise<void> {
  const path = existsSync(place.config) ? realpathSync(place.config) : place.config;
  const old = existsSync(path) ? readWholeText(path, LARGEST_SETTINGS) : '';
  const text = withMail(old, settings, place);
  mkdirSync(dirname(path), { recursive: true });
  if (settings.password !== null) {
    mkdirSync(dirname(place.password), { recursive: true, mode: 0o700 });
    await replacePrivateFile(place.password, `${settings.password}\n`, place.owner);
  }
  replaceFile(path, text, () => {
    const now = existsSync(path) ? readWholeText(path, LARGEST_SETTINGS) : '';
    if (now !== old) throw new Failure(`${path} was changed in the meantime, and was not written: try again`);
  });
}
