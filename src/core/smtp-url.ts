/** The part of `smtp.url` after the `?`. */
/** The options that are allowed there, and how each is read. */
const OPTIONS: Record<string, (value: string, name: string) => boolean | number | string> = {
  requireTLS: readFlag,
  ignoreTLS: readFlag,
  opportunisticTLS: readFlag,
  name: (value) => value,
  authMethod: (value) => value,
  localAddress: (value) => value,
  maxConnections: readCount,
  maxMessages: readCount,
  'tls.rejectUnauthorized': readFlag,
  'tls.servername': (value) => value,
  'tls.minVersion': (value) => value,
};

export interface SmtpUrlOptions {
  requireTLS?: boolean;
  ignoreTLS?: boolean;
  opportunisticTLS?: boolean;
  name?: string;
  authMethod?: string;
  localAddress?: string;
  maxConnections?: number;
  maxMessages?: number;
  /** The options that begin with `tls.`, without that prefix. */
  tls: Record<string, boolean | number | string>;
}

/** @throws Error that names the option, never its value */
export function readSmtpOptions(parameters: URLSearchParams): SmtpUrlOptions {
  const options: Record<string, boolean | number | string> = {};
  const tls: Record<string, boolean | number | string> = {};
  for (const [name, value] of parameters) {
    const read = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    if (!read)
      throw new Error(`smtp.url has an unknown option; it may have ${Object.keys(OPTIONS).join(', ')}`);
    if (name.startsWith('tls.')) tls[name.slice('tls.'.length)] = read(value, name);
    else options[name] = read(value, name);
  }
  return { ...options, tls };
}

function readFlag(value: string, name: string): boolean {
  if (value !== 'true' && value !== 'false') throw new Error(`smtp.url: ${name} must be true or false`);
  return value === 'true';
}

function readCount(value: string, name: string): number {
  if (!/^[1-9]\d{0,4}$/.test(value)) throw new Error(`smtp.url: ${name} must be a whole number from 1`);
  return Number(value);
}
