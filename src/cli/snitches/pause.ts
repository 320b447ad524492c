/** `snitch pause` and `unpause`: silence for a while. */
import type { Client } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { untilInWords } from '../../core/activity/words.ts';
import { relativeTime, terminalTime } from '../../text/times.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { parseUntil } from '../command/duration.ts';
import { resolveSnitches } from '../command/resolve.ts';
import { Output } from '../output/output.ts';
import { SNITCH_VIEW } from '../output/snitch-view.ts';
import { tellNextRuns } from './due-answer.ts';

const SNITCHES = ['<snitch...>', 'tokens, or names'] as const;

export const register: Register = (program) => {
  const pause = program
    .command('pause')
    .description('stop alerts about snitches until they check in again, or until a time')
    .argument(...SNITCHES)
    .option('-u, --until <when>', 'healthy, unpaused, 2h, 14:30, tomorrow, monday or a time', 'healthy')
    .action((names: string[], flags: PauseFlags) => pauseSnitches(names, flags));
  withExamples(
    addClientOptions(pause),
    'snitch pause nightly-backup                 until it checks in healthy again',
    'snitch pause nightly-backup --until 2h',
    'snitch pause nightly-backup --until unpaused',
  );
  const unpause = program
    .command('unpause')
    .description('start alerts about snitches again; their deadlines restart now')
    .argument(...SNITCHES)
    .action((names: string[], flags: ClientFlags) => unpauseSnitches(names, flags));
  withExamples(addClientOptions(unpause), 'snitch unpause nightly-backup');
};

interface PauseFlags extends ClientFlags {
  until: string;
}

async function pauseSnitches(names: readonly string[], flags: PauseFlags): Promise<void> {
  const now = Date.now();
  const until = parseUntil(flags.until, now);
  await change(
    names,
    { ...flags, client: connect(flags) },
    (client, { token }) => client.pause(token, until),
    `paused ${untilInWords(until, (iso) => `${terminalTime(iso)} (${relativeTime(iso, now)})`)}`,
  );
}

/** The next runs are shown for this many snitches at most, because each takes a request. */
const TOLD = 5;

async function unpauseSnitches(names: readonly string[], flags: ClientFlags): Promise<void> {
  const client = connect(flags);
  const changed = await change(
    names,
    { ...flags, client },
    (_client, { token }) => client.unpause(token),
    'no longer paused',
  );
  const output = new Output(flags, client.now());
  for (const snitch of changed.slice(0, TOLD)) {
    await tellNextRuns(client, output, snitch, changed.length === 1 ? '' : `${snitch.name}: `);
  }
}

async function change(
  names: readonly string[],
  { client, ...flags }: ClientFlags & { client: Client },
  act: (client: Client, snitch: WireSnitch) => Promise<void>,
  what: string,
): Promise<WireSnitch[]> {
  const output = new Output(flags);
  const changed: WireSnitch[] = [];
  for (const snitch of await resolveSnitches(client, names)) {
    await act(client, snitch);
    output.done(`${snitch.name}: ${what}`);
    // The API answers with no body. Only a program is interested enough in the new state to ask for it.
    if (output.format === 'json') changed.push(await client.getSnitch(snitch.token));
    else changed.push(snitch);
  }
  if (output.format !== 'table' && output.format !== 'wide') output.list(changed, SNITCH_VIEW);
  return changed;
}
