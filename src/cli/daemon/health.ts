/** `snitch health`: one line and an exit code, for container engines and scripts that ask again and again. */
import { createClient, type Probe } from '../../api/client.ts';
import { printable } from '../../text/printable.ts';
import { type ConnectionFlags, findAddress, timeoutOf } from '../command/connection.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { reportFailure } from '../failure/failure.ts';
import { print } from '../output/pieces.ts';

export interface HealthFlags extends Pick<ConnectionFlags, 'url' | 'server' | 'timeout'> {
  quiet?: boolean;
}

/** Whoever asks again and again wants an answer before the next time. */
const WITHIN = '5s';

/**
 * Asks `/readyz`, which needs no key.
 *
 * @returns 0 or 1 and nothing else, because container engines keep all other codes for themselves
 */
export async function reportHealth({ quiet = false, ...flags }: HealthFlags): Promise<number> {
  const timeoutMs = timeoutOf({ timeout: flags.timeout ?? WITHIN });
  try {
    const url = findAddress(flags);
    const { words, isWell } = judged(
      await createClient({ url, apiKey: '', timeoutMs }).probe('/readyz'),
      url,
    );
    const line = printable(words);
    if (isWell && !quiet) print([`${line}\n`]);
    else if (!quiet) process.stderr.write(`snitch: ${line}\n`);
    return isWell ? EXIT.ok : EXIT.error;
  } catch (error) {
    if (!quiet) reportFailure(error);
    return EXIT.error;
  }
}

/** Another program may listen at this address by now, and say 200 to everything. */
function judged({ status, text, own }: Probe, url: string): { words: string; isWell: boolean } {
  if (!own) return { words: `what answers at ${url} is not a snitch server`, isWell: false };
  const { problems, progress } = readiness(text);
  if (status !== 200) return { words: `not ready: ${problems || `status ${status}`}`, isWell: false };
  return { words: progress ? `ready, and ${progress}` : 'ready', isWell: true };
}

function readiness(text: string): { problems: string; progress: string } {
  try {
    const found = JSON.parse(text) as Record<string, unknown>;
    const listed = (name: string) => (Array.isArray(found[name]) ? found[name].map(String).join('; ') : '');
    return { problems: listed('problems'), progress: listed('progress') };
  } catch {
    return { problems: '', progress: '' };
  }
}
