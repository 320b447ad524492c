/** Reads secrets that have files of their own: credentials of systemd, or files of the operator. */
import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { printable } from '../text/printable.ts';
import { ConfigError } from './file.ts';
import { isWatchdogUrl, type Settings } from './settings.ts';

/** No password is longer, so a larger file must be the wrong one. Bytes. */
const LONGEST = 4_096;

export interface Secrets {
  smtpPassword: string | null;
  adminKey: string | null;
  watchdogUrl: string | null;
  /** The files that they were read from. */
  files: Record<'smtpPassword' | 'adminKey' | 'watchdogUrl', string | null>;
}

/**
 * Reads the files named by settings, or else the credentials that the service manager passed under our names.
 *
 * @throws ConfigError
 */
export function readSecrets({ smtp, admin_key_from, watchdog }: Settings, env: NodeJS.ProcessEnv): Secrets {
  const problems: string[] = [];
  const files = {
    smtpPassword: smtp.password_file ?? credentialFile(env, 'smtp-password'),
    adminKey: admin_key_from ?? credentialFile(env, 'admin-key'),
    watchdogUrl: watchdog.url_file ?? null,
  };
  const read = (setting: string, file: string | null) => {
    try {
      return file === null ? null : readSecret(file);
    } catch (error) {
      problems.push(`${setting}: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  };
  const smtpPassword = read('smtp.password_file', files.smtpPassword);
  const adminKey = read('admin_key_from', files.adminKey);
  if (smtpPassword !== null && smtp.url !== undefined) problems.push(...problemsOfPassword(smtp.url));
  if (adminKey !== null && !API_KEY.test(adminKey)) {
    problems.push('admin_key_from: an API key is snk_ followed by 40 letters and digits');
  }
  const watchdogUrl = read('watchdog.url_file', files.watchdogUrl);
  if (watchdogUrl !== null && !isWatchdogUrl(watchdogUrl))
    problems.push(`watchdog.url_file: ${files.watchdogUrl} must hold a check-in address at another server`);
  if (watchdogUrl !== null && watchdog.url !== undefined)
    problems.push('watchdog.url: watchdog.url_file is set too: remove one of them');
  if (problems.length > 0) throw new ConfigError(problems.map(printable));
  return { smtpPassword, adminKey, watchdogUrl, files };
}

const API_KEY = /^snk_[0-9A-Za-z]{40}$/;

function problemsOfPassword(smtpUrl: string): string[] {
  const { username, password } = new URL(smtpUrl);
  if (password) return ['smtp.url: it has a password, and so has smtp.password_file: remove one of them'];
  return username ? [] : ['smtp.url: the password of smtp.password_file needs a user name: smtp://USER@HOST'];
}

/** The address of the mail server with the password in it, as the mail library expects it. */
export function withPassword(
  { url, from }: Settings['smtp'],
  password: string | null,
): { url: string; from: string } | null {
  if (url === undefined || from === undefined) return null;
  if (password === null) return { url, from };
  const complete = new URL(url);
  complete.password = encodeURIComponent(password);
  return { url: complete.href, from };
}

/**
 * The file that systemd made for `LoadCredential=<name>`; null if there is none. A file that cannot be examined counts
 * as present, so reading it reports the error.
 */
export function credentialFile(env: NodeJS.ProcessEnv, name: string): string | null {
  if (!env.CREDENTIALS_DIRECTORY) return null;
  const file = join(env.CREDENTIALS_DIRECTORY, name);
  try {
    return lstatSync(file, { throwIfNoEntry: false }) ? file : null;
  } catch {
    return file;
  }
}

/**
 * @returns the first line of the file
 * @throws Error that says what is wrong with the file, but nothing about what is in it
 */
export function readSecret(file: string): string {
  const bytes = Buffer.alloc(LONGEST + 1);
  const text = bytes.toString('utf8', 0, readBytes(file, bytes));
  const secret = text.replace(/\r?\n$/, '');
  if (text.length > LONGEST) throw new Error(`${file} is too long for a secret (maximum ${LONGEST} bytes)`);
  if (secret === '') throw new Error(`${file} is empty`);
  if (/[\p{Cc}\p{Cf}\ufffd]/u.test(secret))
    throw new Error(`${file} must hold one line of text and nothing else`);
  return secret;
}

function readBytes(file: string, bytes: Buffer): number {
  try {
    // Without O_NONBLOCK, a pipe that nobody writes to would block the start of the daemon for ever.
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return readSync(fd, bytes);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    throw new Error(`${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}
