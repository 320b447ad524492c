/** The service that snitches are imported from: its address, its key, and its answers. */

import { ApiError, type ImportInput, open, readText, refusal } from '../../api/client.ts';
import { faultOfReading, readWholeText } from '../../system/reading.ts';
import { MINUTE } from '../../text/durations.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { AuthenticationError, Failure, UsageError } from '../failure/failure.ts';

/** Bytes: no API key is longer. */
const LARGEST_KEY = 4_096;

export interface SourceFlags {
  fromUrl?: string;
  fromKeyFile?: string;
}

export interface Source {
  /** Without a slash at the end. */
  url: string;
  key: string;
}

/** An item of the other service, as a snitch. */
export interface Imported {
  input: ImportInput & { name: string };
  /** What it has there and cannot have here. */
  remarks: string[];
  /** Why it cannot be a snitch at all; null if it can. */
  refusal: string | null;
}

const TIMEOUT = MINUTE;

/** The key comes from a file or the environment, because everybody on the host can read the command line. */
export function sourceOf({ fromUrl, fromKeyFile }: SourceFlags, otherwise: string): Source {
  const url = URL.parse(fromUrl ?? otherwise);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new UsageError('--from-url: must be http://HOST or https://HOST, without a user name');
  }
  const file = fromKeyFile ?? process.env.SNITCH_FROM_KEY_FILE;
  const key = file ? keyIn(file) : process.env.SNITCH_FROM_KEY?.trim();
  if (!key) {
    throw new AuthenticationError(
      `no API key for ${url.origin}\nname a file with it using --from-key-file, or set SNITCH_FROM_KEY`,
    );
  }
  return { url: url.href.replace(/\/+$/, ''), key };
}

function keyIn(file: string): string {
  try {
    return readWholeText(file, LARGEST_KEY).trim();
  } catch (error) {
    throw new AuthenticationError(`cannot read the key from ${file}: ${faultOfReading(error)}`);
  }
}

/** @throws Failure that names the other service, so that nobody looks for the fault in this one */
export async function ask({ url, key }: Source, path: string, keyHeader: string | null): Promise<unknown> {
  const signal = AbortSignal.timeout(TIMEOUT);
  const headers: Record<string, string> = keyHeader === null ? {} : { [keyHeader]: key };
  const options = { url, apiKey: keyHeader === null ? key : '' };
  try {
    const response = await open(options, { method: 'GET', path, body: undefined, signal, headers });
    const text = await readText(response);
    if (response.statusCode !== 200) throw refusal(response, text);
    return JSON.parse(text);
  } catch (error) {
    throw describe(url, error, signal.aborted);
  }
}

function describe(url: string, error: unknown, late: boolean): Failure {
  if (error instanceof ApiError) {
    if (error.status === 401 || error.status === 403) {
      return new AuthenticationError(`${url} refuses the key: ${error.message}`);
    }
    return new Failure(`${url} answered with status ${error.status}: ${error.message}`);
  }
  if (error instanceof SyntaxError)
    return new Failure(`${url}: what answers there is not the API of that service`);
  const reason = late
    ? 'no answer in time'
    : (error as Error).message || String((error as NodeJS.ErrnoException).code);
  return new Failure(`cannot reach ${url}: ${reason}`, EXIT.unreachable);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export type Fields = Record<string, unknown>;

/** The objects in a list. @throws Failure for anything else, which is not the expected API */
export function objectsIn(list: unknown, url: string): Fields[] {
  if (Array.isArray(list)) {
    return list.filter((item): item is Fields => typeof item === 'object' && item !== null);
  }
  throw new Failure(`${url}: what answers there is not the API of that service`);
}

/** Whether the server accepts this as a token. */
export function isToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{6,64}$/.test(text);
}
