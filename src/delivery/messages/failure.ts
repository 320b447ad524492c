/** Connection failures in words that tell whoever runs the target where to look. */
import { withoutNodeAdvice } from '../../text/node-advice.ts';
import { printable, shorten } from '../../text/printable.ts';

/** The longest error that is kept with a delivery, in characters. */
const ERROR_LIMIT = 300;

/** Shorter secrets are not hidden: they occur in text by chance, and the gaps would give them away. */
const SHORTEST_SECRET = 4;

const WORDS: Record<string, (where: string) => string> = {
  ECONNREFUSED: (where) => `connection refused by ${where}`,
  ECONNRESET: (where) => `connection closed by ${where} before its answer was complete`,
  EPIPE: (where) => `connection closed by ${where} before its answer was complete`,
  UND_ERR_SOCKET: (where) => `connection closed by ${where} before its answer was complete`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: (where) =>
    `connection closed by ${where} before its answer was complete`,
  UND_ERR_CONNECT_TIMEOUT: (where) => `no connection to ${where} in time`,
  ETIMEDOUT: (where) => `no connection to ${where} in time`,
  ENOTFOUND: (where) => `${where} has no address: the name does not exist`,
  EAI_AGAIN: (where) => `the address of ${where} cannot be looked up: no name server answers`,
  EHOSTUNREACH: (where) => `no route to ${where}`,
  ENETUNREACH: (where) => `no route to ${where}`,
  EMFILE: () => 'too many open files in this process',
  UND_ERR_HEADERS_OVERFLOW: (where) => `the answer's headers from ${where} are too large`,
  ERR_SSL_WRONG_VERSION_NUMBER: (where) => `${where} does not speak TLS on this port`,
};

/** Error codes that are about the certificate: Node's own message then says what is wrong with it. */
const CERTIFICATE = /CERT|ALTNAME|ISSUER|SELF_SIGNED|VERIFY|CRL/;

/**
 * @param host the target's host and port, for failures that do not name an address themselves
 * @param secrets what must not appear in the result, even if an error contains it
 */
export function failureInWords(error: unknown, host: string, secrets: readonly string[] = []): string {
  const words = error instanceof AggregateError ? eachInWords(error, host) : oneInWords(error, host);
  return errorText(words, secrets);
}

/** `text` as it is stored and logged: in one line, of bounded length, without secrets. */
export function errorText(text: string, secrets: readonly string[] = []): string {
  const hidden = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .flatMap(spellingsOf)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  return shorten(printable(hidden), ERROR_LIMIT);
}

/** The spellings in which a server may quote a secret back: as in a URL, in JSON, or in a header. */
function spellingsOf(secret: string): string[] {
  const text = secret.toWellFormed();
  const base64 = Buffer.from(text).toString('base64');
  return [secret, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), base64];
}

/** A host name with several addresses fails once for each of them. */
function eachInWords({ errors }: AggregateError, host: string): string {
  return [...new Set(errors.map((error: unknown) => oneInWords(error, host)))].join('; ');
}

function oneInWords(error: unknown, host: string): string {
  if (!(error instanceof Error)) return String(error);
  const message = withoutNodeAdvice(error.message);
  const { code, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (error.name === 'HTTPParserError') return `the answer from ${host} is not HTTP: ${message}`;
  if (code === undefined) return message;
  const words = WORDS[code];
  if (words) return words(address === undefined || port === undefined ? host : hostAndPort(address, port));
  if (CERTIFICATE.test(code)) return `the certificate of ${host} is not valid: ${message}`;
  if (code.startsWith('ERR_SSL') || code === 'EPROTO') return `TLS with ${host} failed: ${message}`;
  return `${message} (${code})`;
}

function hostAndPort(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
