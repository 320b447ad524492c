/** The step of `snitch setup` in which the mail server is tried, and put into the configuration of the daemon. */
import { spawnSync } from 'node:child_process';
import { createClient } from '../../api/client.ts';
import type { Config } from '../../config/config.ts';
import { isEmailAddress } from '../../core/validation.ts';
import { delay } from '../../system/delay.ts';
import { type ConnectionFlags, findConnection } from '../command/connection.ts';
import { tell } from '../command/prompt.ts';
import { asRoot } from '../doctor/as-root.ts';
import { checkEmail } from '../doctor/mail.ts';
import { describeFailure } from '../failure/failure.ts';
import { say } from '../output/output.ts';
import { agrees, ask, choose } from './dialogue.ts';
import { type MailSettings, mailLines, mayWrite, type Place, placeFor, writeMail } from './mail-file.ts';

export interface MailFlags extends ConnectionFlags {
  config?: string;
}

/** @returns the address that a test mail went to; null for none */
export async function setUpMail(flags: MailFlags): Promise<string | null> {
  const { config, path } = await configuration(flags);
  const found = await checkEmail(flags, config, null);
  if (found) tell(`Email now: ${found.message}.`);
  if (found?.state === 'ok' && !(await agrees('Change the mail server?', 'n')))
    return sendFromDaemon(flags, config);
  const place = placeFor(path, config?.dataDir ?? null);
  const settings = await settingsThatWork();
  if (!(await written(settings, place, isHere(flags)))) return null;
  return (await restarted(flags, place)) ? sendFromDaemon(flags, (await configuration(flags)).config) : null;
}

async function configuration({ config: file }: MailFlags): Promise<{ config: Config | null; path: string }> {
  const [{ loadConfig }, { readConfigFile }] = await Promise.all([
    import('../../config/config.ts'),
    import('../../config/file.ts'),
  ]);
  const named = file ?? (process.env.SNITCH_CONFIG || null);
  try {
    const config = await loadConfig({ file, env: process.env });
    const found = await readConfigFile({ file, env: process.env });
    return { config, path: found?.path ?? named ?? USUAL };
  } catch {
    // A file that is invalid, or belongs to another user, is reported when it is written.
    return { config: null, path: named ?? USUAL };
  }
}

const USUAL = '/etc/snitch/config.yaml';

/** Asks for the settings, and tries them from here until they work or are kept nevertheless. */
async function settingsThatWork(): Promise<MailSettings> {
  for (;;) {
    const settings = await askSettings();
    const recipient = await askRecipient();
    tell('Trying it from here …');
    const problem = await problemOf(settings, recipient);
    if (problem === null) {
      tell(`The mail server accepted a test mail to ${recipient}: check that it has arrived.`);
      return settings;
    }
    tell(`It did not work: ${problem}.`);
    const next = await choose<'change' | 'keep'>(
      'What now?',
      [
        { name: 'change', text: 'change it' },
        { name: 'keep', text: 'keep it as it is' },
      ],
      'change',
      'Keep it where only the daemon can reach the mail server. Type skip to leave email as it was.',
    );
    if (next === 'keep') return settings;
  }
}

async function askSettings(): Promise<MailSettings> {
  const server = await ask({
    text: 'Mail server, such as mail.example.com',
    help: 'The server for your outgoing mail. HOST:PORT names another port than 587; port 465, or smtps:// before the name, means TLS from the start.',
    problem: (given) =>
      urlOf(given, '') === null ? 'Write HOST, HOST:PORT or smtps://HOST, without a user.' : null,
  });
  const user = await ask({
    text: 'User there (empty for none)',
    help: 'The name to log in with, often an email address.',
  });
  const password =
    user === ''
      ? null
      : await ask({
          text: 'Password',
          isSecret: true,
          help: 'It is not shown while it is typed. It goes into a file that other users cannot read.',
          problem: (given) => (given === '' ? 'A user needs a password.' : null),
        });
  const from = await ask({
    text: 'Sender of the mails',
    ...(isEmailAddress(user) ? { otherwise: user } : {}),
    help: 'An address that the mail server knows, such as snitch@example.com or Snitch <snitch@example.com>.',
    problem: (given) => (isSender(given) ? null : 'Write an email address, such as snitch@example.com.'),
  });
  return { url: urlOf(server, user) ?? '', from, password };
}

/** Null for anything that is not a mail server. */
function urlOf(given: string, user: string): string | null {
  const implicit = /:465$/.test(given) && !given.includes('://');
  const url = URL.parse(/^smtps?:\/\//.test(given) ? given : `${implicit ? 'smtps' : 'smtp'}://${given}`);
  const isPlain =
    url && url.hostname !== '' && !url.username && !url.password && /^\/?$/.test(url.pathname + url.hash);
  if (!isPlain || !/^[\w.:[\]-]+$/.test(url.host)) return null;
  if (url.port === '' && url.protocol === 'smtp:') url.port = '587';
  return `${url.protocol}//${user === '' ? '' : `${encodeURIComponent(user)}@`}${url.host}${url.search}`;
}

function isSender(given: string): boolean {
  return isEmailAddress(/^[^"<>,;:@\\]*<([^<>]+)>$/.exec(given)?.[1] ?? given);
}

function askRecipient(): Promise<string> {
  return ask({
    text: 'Send a test mail to',
    help: 'An address whose mail you can read now.',
    problem: (given) => (isEmailAddress(given) ? null : 'Write an email address, such as ops@example.com.'),
  });
}

async function problemOf({ url, from, password }: MailSettings, recipient: string): Promise<string | null> {
  const { checkMail } = await import('../../delivery/smtp/mail-check.ts');
  const complete = new URL(url);
  if (password !== null) complete.password = encodeURIComponent(password);
  try {
    return (await checkMail({ url: complete.href, from }, recipient, Date.now())).problem;
  } catch (error) {
    return describeFailure(error).lines[0] ?? 'it cannot be used';
  }
}

/** A file that is written on this host must be that of the daemon. */
function isHere(flags: MailFlags): boolean {
  const { url } = findConnection(flags);
  const host = URL.parse(url)?.hostname ?? '';
  return url.startsWith('unix:') || /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);
}

/** @returns whether the settings are in the file; otherwise the lines for it were shown */
async function written(settings: MailSettings, place: Place, isHere: boolean): Promise<boolean> {
  if (
    isHere &&
    mayWrite(place) &&
    (await agrees(`Write it to ${place.config}?`, 'y', 'Everything else in the file stays as it is.'))
  ) {
    try {
      await writeMail(settings, place);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      tell(`It was not written: ${code ? `${place.config}: ${code}` : message}.`);
      showLines(settings, place, isHere);
      return false;
    }
    tell(
      `${place.config} is written${settings.password === null ? '' : `, and the password to ${place.password}`}.`,
    );
    return true;
  }
  showLines(settings, place, isHere);
  return false;
}

function showLines(settings: MailSettings, place: Place, isHere: boolean): void {
  tell(
    `Put these lines${isHere ? '' : ', on its host,'} into the configuration file of the daemon, ${place.config} or the one of its --config, in place of its smtp section:`,
  );
  say('');
  for (const line of mailLines(settings, place)) say(line);
  say('');
  if (settings.password !== null) {
    tell(
      `and the password, in one line, into ${place.password}, which only the daemon may read (chmod 600).`,
    );
  }
  tell(
    `Then restart the daemon (${isHere && place.isCredential ? asRoot('systemctl restart snitch') : 'end `snitch serve`, and start it again with --config FILE'}), and run snitch setup again.`,
  );
  if (isHere && !mayWrite(place) && process.getuid?.() !== 0)
    tell('Run with sudo, setup writes them itself.');
}

/** @returns whether the daemon runs with the new settings, which only the user may know */
async function restarted(flags: MailFlags, place: Place): Promise<boolean> {
  if (place.isCredential && spawnSync('systemctl', ['is-active', '--quiet', 'snitch']).status === 0) {
    if (!(await agrees('Restart the daemon now, so that it reads this?', 'y'))) return false;
    const { status, stderr } = spawnSync('systemctl', ['restart', 'snitch'], { encoding: 'utf8' });
    if (status !== 0) {
      tell(`It was not restarted: ${stderr.trim() || 'systemctl failed'}. journalctl -u snitch says more.`);
      return false;
    }
    return true;
  }
  tell(
    'The daemon reads it when it is restarted: end `snitch serve`, and start it again in the same way. If its file is another, name that with --config.',
  );
  await ask({ text: 'Press Enter when that is done (skip: later)' });
  await untilReady(flags);
  return true;
}

const START_WITHIN = 15_000;
const LOOK_EVERY = 250;

/** A daemon that was just started may need a moment. The next request reports what is wrong after that. */
async function untilReady(flags: MailFlags): Promise<void> {
  const client = createClient(findConnection(flags));
  const end = performance.now() + START_WITHIN;
  while (performance.now() < end) {
    const isThere = await client.probe('/readyz').then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isThere) return;
    await delay(LOOK_EVERY);
  }
}

/** The proof: what the daemon itself can send. */
async function sendFromDaemon(flags: MailFlags, config: Config | null): Promise<string | null> {
  const recipient = await askRecipient();
  const finding = await checkEmail(flags, config, recipient);
  tell(`Email now: ${finding?.message ?? 'it could not be checked'}.`);
  if (finding?.state === 'ok') return recipient;
  if (finding?.remedy) tell(`What to do: ${finding.remedy}.`);
  return null;
}
