/** Turns `smtp.url` and `smtp.from` into options for the SMTP client. */
import { domainToASCII } from 'node:url';
import type { SMTPPoolOptions } from 'nodemailer/lib/smtp-pool';
import { readSmtpOptions } from '../../core/smtp-url.ts';
import { isEmailAddress } from '../../core/validation.ts';

export interface SmtpSettings {
  /** `smtp://` or `smtps://`, with credentials and `?` options. */
  url: string;
  /** An address, or `Name <address>`. */
  from: string;
}

export type SmtpOptions = SMTPPoolOptions & { pool: true; host: string; port: number };

export interface Sender {
  /** Empty if the setting gives only an address. */
  name: string;
  address: string;
}

/**
 * TLS is required with `smtps://`, with `?requireTLS=true`, and if a password would leave this host; then the
 * server's certificate must be valid too. Otherwise TLS is used if the server offers it, whatever its certificate:
 * refusing it would only send the same mail in the clear.
 *
 * @throws Error that names the setting, never its value
 */
export function smtpOptions({ url }: SmtpSettings, connections: number): SmtpOptions {
  const parsed = URL.parse(url);
  if (!parsed || !/^smtps?:$/.test(parsed.protocol) || parsed.hostname === '') {
    throw new Error('smtp.url must be smtp://[USER:PASSWORD@]HOST[:PORT] or smtps://…');
  }
  const { tls, ...given } = readSmtpOptions(parsed.searchParams);
  const secure = parsed.protocol === 'smtps:';
  const host = hostOf(parsed.hostname);
  const auth = parsed.username === '' ? undefined : credentials(parsed);
  const unprotected = given.requireTLS === false || given.ignoreTLS || given.opportunisticTLS;
  const requireTLS = given.requireTLS === true || (auth !== undefined && !isLoopback(host) && !unprotected);
  return {
    pool: true,
    secure,
    maxConnections: connections,
    ...given,
    host,
    port: parsed.port === '' ? (secure ? 465 : 25) : Number(parsed.port),
    requireTLS,
    ...(auth ? { auth } : {}),
    tls: { rejectUnauthorized: secure || requireTLS, ...tls },
  };
}

/** What no error may show: the password, or a user name on its own, which is the key itself. */
export function secretsOf({ auth }: Pick<SmtpOptions, 'auth'>): string[] {
  if (!auth) return [];
  const { user = '', pass = '' } = auth;
  return [pass === '' ? user : pass, Buffer.from(`\0${user}\0${pass}`).toString('base64')];
}

/** @throws Error that names the setting */
export function senderOf({ from }: SmtpSettings): Sender {
  const named = /^([^<>]*)<([^<>]+)>$/.exec(from.trim());
  const [name = '', address = from] = named ? [named[1], named[2]] : [];
  const sender = { name: name.trim().replace(/^"(.*)"$/, '$1'), address: address.trim() };
  if (!isEmailAddress(sender.address)) throw new Error('smtp.from must be an email address');
  return sender;
}

/** Other letters are percent-encoded in such a URL, and no name server knows a name like that. */
function hostOf(hostname: string): string {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!host.includes('%')) return host;
  try {
    return domainToASCII(decodeURIComponent(host)) || host;
  } catch {
    return host;
  }
}

function credentials({ username, password }: URL): { user: string; pass: string } {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    throw new Error('smtp.url: the user name or password is not valid percent-encoding');
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.[\d.]+$/.test(host);
}
