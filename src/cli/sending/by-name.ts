/**
 * Sends a check-in by name, with a key that has the right to. The key goes into a header, and never into the address,
 * which proxies write into their logs.
 */
import { basicAuthorization } from '../../api/exchange.ts';
import type { Connection } from '../command/connection.ts';
import type { KeptCheckIn } from './check-in.ts';
import { type Answer, post, queryOf } from './send.ts';

/** Statuses with which the daemon refuses a check-in for good. */
const REFUSALS = [400, 405, 413, 414, 422, 431];

/** How the daemon's answer begins if only the name is wrong; an older one does not know such addresses at all. */
const UNKNOWN_NAME = 'There is no snitch with this name';

/** Never throws. */
export async function sendByName(
  checkIn: KeptCheckIn,
  { url, apiKey }: Pick<Connection, 'url' | 'apiKey'>,
  signal: AbortSignal,
  wasKept: boolean,
): Promise<Answer> {
  // Every server accepts check-ins at /c, whatever else its check-in addresses begin with.
  const base = url.startsWith('unix:') ? url : `${url}/c`;
  const name = checkIn.name ?? '';
  try {
    const path = pathOf(checkIn, wasKept);
    const headers = { authorization: basicAuthorization(apiKey) };
    return judge(await post({ base, path, headers, output: checkIn.output }, signal), url, name);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = signal.aborted ? 'no answer in time' : (code ?? message);
    return { kind: 'later', reason: `cannot reach ${url}: ${reason}`, fault: 'server' };
  }
}

/** A hyphen replaces the key. */
function pathOf(checkIn: KeptCheckIn, wasKept: boolean): string {
  const query = queryOf(checkIn, wasKept);
  const ending = checkIn.suffix === null ? '' : `/${checkIn.suffix}`;
  const make = checkIn.make === undefined ? '' : `create=1&${checkIn.make}`;
  const parameters = [make, query.toString()].filter((part) => part !== '').join('&');
  return `-/${encodeName(checkIn.name ?? '')}${ending}${parameters === '' ? '' : `?${parameters}`}`;
}

/** A name that is only dots would be read as a relative folder on the way. */
function encodeName(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed());
  return /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
}

interface Response {
  status: number;
  own: boolean;
  text: string;
}

function judge({ status, own, text }: Response, url: string, name: string): Answer {
  const words = inOneLine(text);
  if (!own) {
    const who = status === 404 ? ', and not as a snitch server' : '';
    return { kind: 'later', reason: `${url} answered with status ${status}${who}`, fault: 'server' };
  }
  if (status === 201) return { kind: 'recorded', made: name };
  if (status >= 200 && status <= 299) return { kind: 'recorded' };
  if (status === 401 || status === 403) return { kind: 'later', reason: words, fault: 'key' };
  if (REFUSALS.includes(status)) return { kind: 'refused', reason: words || `${url} refused it: ${status}` };
  if (status === 404 && words.startsWith(UNKNOWN_NAME)) {
    return { kind: 'refused', reason: `no snitch has the name "${name}"` };
  }
  if (status === 404) {
    const reason = `the server at ${url} is too old to take check-ins by name: update it, or use the token of the snitch`;
    return { kind: 'later', reason, fault: 'recipient' };
  }
  return { kind: 'later', reason: words || `${url} answered with status ${status}`, fault: faultOf(status) };
}

/** A refusal names each field on a line of its own. */
function inOneLine(text: string): string {
  const [first = '', ...lines] = text.trim().split('\n');
  return lines.length === 0 ? first : `${first} ${lines.join('; ')}`;
}

/** A case that is full, or makes many snitches at once, still accepts check-ins of existing ones. */
function faultOf(status: number): 'server' | 'recipient' {
  return status === 402 || status === 429 ? 'recipient' : 'server';
}
