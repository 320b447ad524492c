/** `snitch acknowledge`: somebody has seen an alarm, so nobody needs to be reminded of it. */
import { Option } from 'commander';
import { ApiError, type Client } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';
import { addClientOptions, type ClientFlags, type Register, withExamples } from '../command/command.ts';
import { connect } from '../command/connection.ts';
import { resolveSnitches } from '../command/resolve.ts';
import { Failure } from '../failure/failure.ts';
import { Output } from '../output/output.ts';
import { SNITCH_VIEW } from '../output/snitch-view.ts';

export const register: Register = (program) => {
  const acknowledge = program
    .command('acknowledge')
    .alias('ack')
    .description('say that you have seen an alarm: no reminders and no escalation until it changes')
    .argument('<snitch...>', 'tokens, or names')
    .option('-m, --note <text>', 'a note for the others')
    .addOption(new Option('--message <text>').hideHelp())
    .option('--by <name>', 'who has seen it (default: the name of the API key)')
    .option('--undo', 'take it back: reminders start again')
    .action((names: string[], flags: AcknowledgeFlags) => acknowledgeSnitches(names, flags));
  withExamples(
    addClientOptions(acknowledge),
    'snitch acknowledge nightly-backup -m "the disk is full, I am on it"',
    'snitch ack nightly-backup web1-restic --by Ann',
    'snitch ack nightly-backup --undo',
  );
};

interface AcknowledgeFlags extends ClientFlags {
  note?: string;
  /** The name that check-ins have for it. */
  message?: string;
  by?: string;
  undo?: boolean;
}

async function acknowledgeSnitches(names: readonly string[], flags: AcknowledgeFlags): Promise<void> {
  const client = connect(flags);
  const output = new Output(flags, client.now());
  const changed: WireSnitch[] = [];
  for (const snitch of await resolveSnitches(client, names)) {
    const after = await change(client, snitch, flags);
    output.done(`${snitch.name}: ${flags.undo ? UNDONE : wordsOf(after)}`);
    changed.push(after);
  }
  if (output.format !== 'table' && output.format !== 'wide') output.list(changed, SNITCH_VIEW);
}

/** Deliveries dropped because of it stay dropped, so nobody should rely on an escalation now. */
const UNDONE =
  'no longer acknowledged; reminders go on, but anybody due to be alerted later hears only about the next alarm';

/** The first to acknowledge stays on record, so somebody who comes later reads whom to ask. */
function wordsOf({ acknowledged }: WireSnitch): string {
  const until = 'no reminders until its status changes';
  return acknowledged ? `acknowledged by ${acknowledged.by}, ${until}` : `acknowledged, ${until}`;
}

async function change(
  client: Client,
  { token }: WireSnitch,
  { message, note = message, by, undo = false }: AcknowledgeFlags,
): Promise<WireSnitch> {
  const said = { ...(note === undefined ? {} : { note }), ...(by === undefined ? {} : { by }) };
  try {
    return await (undo ? client.unacknowledge(token) : client.acknowledge(token, said));
  } catch (error) {
    // The snitch was found a moment ago, so it is the path that the server does not know.
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    throw new Failure(
      'the server is too old to know acknowledgements: update it first, or use `snitch pause`',
    );
  }
}
