/** Sends check-ins. They need no key: the token in the address is the secret. */
import { ApiError, open, readText, Unreachable } from './client.ts';

export interface CheckInReport {
  message?: string;
  /** Anything but nothing and `0` reports an error. */
  exitStatus?: string;
}

export interface CheckInTarget {
  /** What check-in addresses begin with, without a slash at the end. */
  base: string;
  token: string;
  timeoutMs: number;
}

/**
 * Resolves when the server has the check-in on its disk.
 *
 * @throws ApiError where the server refuses it, Unreachable where none answers
 */
export async function sendCheckIn(target: CheckInTarget, report: CheckInReport = {}): Promise<void> {
  const socket = target.base.startsWith('unix:');
  const path = `${socket ? '/c' : ''}/${encodeURIComponent(target.token)}`;
  const fields = { m: report.message, s: report.exitStatus };
  const body = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const signal = AbortSignal.timeout(target.timeoutMs);
  try {
    const options = { url: target.base, apiKey: '', timeoutMs: target.timeoutMs };
    const response = await open(options, { method: 'POST', path, body, signal, headers: {} });
    const text = await readText(response);
    const { statusCode: status = 0 } = response;
    if (status < 200 || status > 299) {
      throw new ApiError(status, { type: 'check_in_refused', error: firstLine(text, status) }, null);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new Unreachable(target.base, signal.aborted ? new Error('no answer in time') : error);
  }
}

function firstLine(text: string, status: number): string {
  const [line = ''] = text.trim().split('\n', 1);
  return line === '' || line.startsWith('<')
    ? `the server answered with status ${status}`
    : line.slice(0, 200);
}
