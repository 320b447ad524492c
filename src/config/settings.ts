/**
 * Every setting with its name, its allowed values and its default. It is the one source for the file, the environment,
 * the error messages and the manual page. The description of a setting completes the sentence "it must be …".
 */
import { isAbsolute } from 'node:path';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { readSmtpOptions } from '../core/smtp-url.ts';
import { isEmailAddress } from '../core/validation.ts';
import { LOG_LEVELS } from '../log/logger.ts';
import { fitsSocket, LONGEST_SOCKET_PATH } from '../system/unix-socket.ts';
import { isPlainText, secretFile } from './secret-path.ts';
import { storeSection } from './store-section.ts';

export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

const listenAddress = z
  .string()
  .transform((text, context) => parseListenAddress(text) ?? refuse(context))
  .describe(
    `HOST:PORT (such as "127.0.0.1:7676", or "[::1]:7676" for IPv6; port 0 takes a free one) or unix:/PATH of at most ${LONGEST_SOCKET_PATH} bytes`,
  );

const httpUrl = z
  .string()
  .refine(isHttpUrl)
  .transform((url) => url.replace(/\/+$/, ''))
  .describe('an address such as https://snitch.example.com, without credentials, query or fragment');

const smtpUrl = z
  .string()
  .refine(isSmtpUrl)
  .superRefine(requireKnownOptions)
  .describe(
    'smtp://HOST[:PORT], or smtps:// for TLS from the start, with USER:PASSWORD@ before the host where it asks for them; @, /, ?, # and % in a password are written %40, %2F, %3F, %23 and %25',
  );

const watchdogUrl = z
  .string()
  .refine(isWatchdogUrl)
  .describe('a check-in address at another server, such as https://snitch2.example.com/c/<token>');

const sender = z
  .string()
  .refine(isSender)
  .describe('an email address, such as snitch@example.com or "Snitch <snitch@example.com>"');

const proxies = z
  .array(z.string().refine(isAddressOrNetwork))
  .describe('a list of addresses and networks, such as ["10.0.0.0/8", "::1"]');

const commands = z
  .record(z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/), z.array(z.string().refine(isArgument)).min(1))
  .refine((given) => Object.values(given).every(([program = '']) => isAbsolute(program)))
  .describe(
    'a map of names to a program by its absolute path and its arguments, such as {page: [/usr/local/bin/page, --now]}',
  );

const flag = z.boolean().describe('true or false');

export const settingsSchema = z.strictObject({
  listen: listenAddress.prefault('127.0.0.1:7676'),
  base_url: httpUrl.optional(),
  check_in_base: httpUrl.optional(),
  admin_key_from: secretFile.optional(),
  data_dir: z.string().min(1).refine(isPlainText).describe('the absolute path of a directory').optional(),
  store: storeSection.prefault({}),
  log: z
    .strictObject({
      level: z
        .enum(LOG_LEVELS)
        .describe(`one of ${LOG_LEVELS.join(', ')}`)
        .prefault('info'),
      format: z.enum(['json', 'pretty']).describe('json or pretty').optional(),
    })
    .prefault({}),
  smtp: z
    .strictObject({ url: smtpUrl.optional(), password_file: secretFile.optional(), from: sender.optional() })
    .superRefine(requireBoth)
    .prefault({}),
  webhooks: z.strictObject({ allow_private: flag.prefault(true) }).prefault({}),
  rate_limit: z
    .strictObject({
      per_minute: wholeNumber(0, 1_000_000, 'turns the limit off').prefault(600),
      burst: wholeNumber(1, 1_000_000).prefault(100),
      block_s: wholeNumber(0, 86_400).prefault(60),
    })
    .prefault({}),
  retention: z
    .strictObject({
      check_ins: wholeNumber(1, 1_000_000_000).prefault(100),
      days: wholeNumber(1, 36_500).prefault(30),
    })
    .prefault({}),
  trusted_proxies: proxies.prefault([]),
  watchdog: z
    .strictObject({
      url: watchdogUrl.optional(),
      url_file: secretFile.optional(),
      interval_s: wholeNumber(10, 86_400).prefault(60),
    })
    .prefault({}),
  commands: commands.prefault({}),
  metrics: z.strictObject({ public: flag.prefault(false) }).prefault({}),
});

export type Settings = z.output<typeof settingsSchema>;

/** Values that may contain a password are never shown, not even in the message that refuses them. */
export const SECRET_SETTINGS: ReadonlySet<string> = new Set(['smtp.url', 'watchdog.url', 'store.url']);

/** What belongs at a place in the configuration: a section with its names, or a value. */
export type Place =
  | { section: readonly string[] }
  | {
      allowed: string;
      read: (text: string) => unknown;
      /** How it is written in a variable, if not as in the file; null otherwise. */
      inVariable: string | null;
    };

/** Each place by its full name. The name of the whole file is ''. */
export const PLACES: ReadonlyMap<string, Place> = new Map(describePlaces(settingsSchema, ''));

/** The names of all values, such as `rate_limit.per_minute`. */
export const SETTING_NAMES: readonly string[] = [...PLACES]
  .filter(([, place]) => 'allowed' in place)
  .map(([name]) => name);

/** `rate_limit.per_minute` is SNITCH_RATE_LIMIT_PER_MINUTE in the environment. */
export function environmentVariable(setting: string): string {
  return `SNITCH_${setting.replaceAll('.', '_').toUpperCase()}`;
}

function* describePlaces(schema: z.core.$ZodType, name: string): Generator<[string, Place]> {
  const inner = withoutDefault(schema);
  if (inner instanceof z.ZodObject) {
    const names = Object.keys(inner.shape);
    yield [name, { section: names }];
    for (const child of names)
      yield* describePlaces(inner.shape[child], name === '' ? child : `${name}.${child}`);
    return;
  }
  const allowed = z.globalRegistry.get(inner)?.description ?? '';
  yield [name, { allowed, read: readerOf(inner), inVariable: formInVariable(inner) }];
}

function formInVariable(schema: z.core.$ZodType): string | null {
  if (schema instanceof z.ZodArray)
    return 'in a variable, its items are separated by commas, without brackets';
  if (schema instanceof z.ZodRecord)
    return 'in a variable, it is JSON: {"page": ["/usr/local/bin/page", "--now"]}';
  return null;
}

function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault)
    return withoutDefault(schema.unwrap());
  return schema;
}

/** The environment has only text. A value that cannot be read as the setting's type stays text, and is refused. */
function readerOf(schema: z.core.$ZodType): (text: string) => unknown {
  if (schema instanceof z.ZodNumber) return (text) => (/^-?\d+$/.test(text.trim()) ? Number(text) : text);
  if (schema instanceof z.ZodBoolean) return (text) => BOOLEAN_WORDS.get(text.trim().toLowerCase()) ?? text;
  if (schema instanceof z.ZodArray) return splitList;
  if (schema instanceof z.ZodRecord) return parseMap;
  return (text) => text;
}

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['on', true],
  ['1', true],
  ['false', false],
  ['no', false],
  ['off', false],
  ['0', false],
]);

/** In the environment a map is JSON. */
function parseMap(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function wholeNumber(from: number, to: number, zero?: string) {
  const description = `a whole number from ${from} to ${to}${zero ? ` (0 ${zero})` : ''}`;
  return z.number().int().min(from).max(to).describe(description);
}

function refuse(context: z.core.$RefinementCtx): never {
  context.addIssue({ code: 'custom' });
  return z.NEVER;
}

function requireBoth(
  smtp: { url?: string | undefined; from?: string | undefined },
  context: z.core.$RefinementCtx,
) {
  if ((smtp.url === undefined) === (smtp.from === undefined)) return;
  const [missing, set] = smtp.url === undefined ? ['url', 'from'] : ['from', 'url'];
  const message = `is missing: smtp.${set} is set, and email needs both`;
  context.addIssue({ code: 'custom', path: [missing], message, params: { complete: true } });
}

function parseListenAddress(text: string): ListenAddress | null {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length);
    return isAbsolute(path) && isPlainText(path) && fitsSocket(path) ? { kind: 'unix', path } : null;
  }
  const found = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[\w.-]+)):(?<port>\d{1,5})$/.exec(text)?.groups;
  const port = Number(found?.port);
  if (!found || port > 65_535) return null;
  if (found.v6 !== undefined)
    return ipaddr.IPv6.isValid(found.v6) ? { kind: 'tcp', host: found.v6, port } : null;
  return found.name === undefined ? null : { kind: 'tcp', host: found.name, port };
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !isPlainText(text) || !/^https?:$/.test(url.protocol)) return false;
  return !url.username && !url.password && !/[?#]/.test(text);
}

export function isWatchdogUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && isPlainText(text) && /^https?:$/.test(url.protocol) && !url.username && !url.password
  );
}

function isSmtpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (!url || !isPlainText(text) || !/^smtps?:$/.test(url.protocol) || url.hostname === '') return false;
  // In `smtp://user:#pass@host` the address ends before the `#`, and the user would be taken for the host.
  if (url.hash.includes('@')) return false;
  return /^\/?$/.test(url.pathname) && isDecodable(url.username) && isDecodable(url.password);
}

function requireKnownOptions(text: string, context: z.core.$RefinementCtx): void {
  try {
    readSmtpOptions(URL.parse(text)?.searchParams ?? new URLSearchParams());
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    context.addIssue({
      code: 'custom',
      message: message.replace(/^smtp\.url:? /, ''),
      params: { complete: true },
    });
  }
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function isSender(text: string): boolean {
  const named = /^(?:"[^"<>\\]*"|[^"<>,;:@\\]*) *<([^<>]+)>$/.exec(text);
  return isPlainText(text) && isEmailAddress(named?.[1] ?? text);
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/');
  const exact = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address);
  return exact && (bits === undefined || ipaddr.isValidCIDR(text));
}

function isArgument(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
