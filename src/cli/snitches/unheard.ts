/** Warns of a recurring silence that covers every run of a job, so that nobody would hear that the job is gone. */
import type { Client } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import type { WireSilence } from '../../api/wire-kept-back.ts';
import { say } from '../output/output.ts';

/** How many snitches are read, and how many of those that are covered are asked about. */
const MOST_READ = 10_000;
const MOST_ASKED = 50;
const ASKED_AT_ONCE = 5;

const MOST_NAMED = 10;

/** The silence is made already: a question that is not answered says nothing. */
export async function tellUnheard(client: Client, silence: WireSilence): Promise<void> {
  const { unheard } = await findUnheard(client, [silence]).catch(() => NONE);
  if (unheard.length > 0) say(unheardInWords(unheard));
}

export interface Unheard {
  unheard: WireSnitch[];
  /** Whether there may be others, because not all snitches were read or asked about. */
  more: boolean;
}

const NONE: Unheard = { unheard: [], more: false };

/** The snitches of which nobody is told when they are gone, because recurring silences cover all of their runs. */
export async function findUnheard(client: Client, silences: readonly WireSilence[]): Promise<Unheard> {
  const recurring = silences.filter(({ schedule }) => schedule !== null);
  if (recurring.length === 0) return NONE;
  let read = 0;
  const keep = (snitch: WireSnitch) => {
    read += 1;
    return isAwaited(snitch) && recurring.some((silence) => isCovered(snitch, silence));
  };
  const covered = await client.listSnitches([], undefined, { keep, most: MOST_READ });
  const asked = covered.slice(0, MOST_ASKED);
  const unheard: WireSnitch[] = [];
  while (asked.length > 0) {
    const some = asked.splice(0, ASKED_AT_ONCE);
    const explained = await Promise.all(some.map(({ token }) => client.explain(token)));
    unheard.push(...some.filter((_, index) => isUnheard(explained[index])));
  }
  return { unheard, more: covered.length > MOST_ASKED || read >= MOST_READ };
}

export function unheardInWords(unheard: readonly WireSnitch[]): string {
  const named = unheard.slice(0, MOST_NAMED).map(({ name }) => name);
  const more = unheard.length > named.length ? ' and others' : '';
  return `nobody will be told if these are gone, because silences cover all of their runs: ${named.join(', ')}${more}`;
}

function isUnheard(explanation: Awaited<ReturnType<Client['explain']>> | undefined): boolean {
  return explanation?.planned != null && explanation.next_alert === null;
}

function isAwaited({ status }: WireSnitch): boolean {
  return status === 'healthy' || status === 'errored';
}

function isCovered({ token, tags }: WireSnitch, silence: WireSilence): boolean {
  if (silence.all) return true;
  return (
    (silence.tokens?.includes(token) ?? false) || (silence.tags?.some((tag) => tags.includes(tag)) ?? false)
  );
}
