/** `snitch setup`: leads a new user from a running server to the first job that is watched. */
import type { Client } from '../../api/client.ts';
import type { WireChannel } from '../../api/wire.ts';
import { isEmailAddress } from '../../core/validation.ts';
import { addConnectionOptions, type Register, withExamples } from '../command/command.ts';
import { connect, findConnection } from '../command/connection.ts';
import { canAsk, tell } from '../command/prompt.ts';
import { asRoot } from '../doctor/as-root.ts';
import { channelsOf } from '../doctor/channels.ts';
import { EXIT } from '../failure/exit-codes.ts';
import { describeFailure, UsageError } from '../failure/failure.ts';
import { countOf } from '../output/count.ts';
import { addChannel, chooseKind, kindInWords, reviseChannel } from './channels.ts';
import { agrees, ask, type Choice, choose, Left } from './dialogue.ts';
import { makeSnitch } from './first-snitch.ts';
import { type MailFlags, setUpMail } from './mail.ts';
import { hasService } from './mail-file.ts';

export const register: Register = (program, finish) => {
  const setup = program
    .command('setup')
    .description('set up who gets which alerts, send a test, and create a first snitch')
    .option('--config <file>', 'configuration file of the daemon, for the mail server')
    .action(async (flags: MailFlags) => finish(await setUp(flags)));
  withExamples(
    addConnectionOptions(setup),
    'snitch setup',
    'sudo snitch setup',
    'snitch setup --config snitch.yaml',
  );
  setup.addHelpText(
    'after',
    `
It asks questions, so it needs a terminal. Each step can be skipped, and repeated by running it again.
The mail server goes into the configuration file of the daemon, which you must be able to write: use sudo on most hosts.`,
  );
};

const HOW =
  'Type ? to have a question explained, and skip to leave a step out. Ctrl-D quits; what is done is kept.';

/** @throws UsageError without a terminal, Stopped at Ctrl-C */
async function setUp(flags: MailFlags): Promise<number> {
  if (!canAsk()) {
    throw new UsageError(
      'setup asks on a terminal, and there is none\nwithout one: `snitch channel add`, `snitch member add` and `snitch create`; for the mail server, smtp in the configuration file',
    );
  }
  tell(HOW);
  try {
    await awaitServer(flags);
    const client = connect(flags);
    await toldStep(client, flags);
    await snitchStep(client);
    tell('');
    tell(
      'That is all. `snitch dashboard` shows it live, `snitch doctor` checks the rest, and `snitch setup` changes it.',
    );
  } catch (error) {
    if (!(error instanceof Left)) throw error;
    tell('Stopped. What is done is kept; `snitch setup` continues.');
  }
  return EXIT.ok;
}

/** Without a server nothing can be kept, so this asks until there is one. */
async function awaitServer(flags: MailFlags): Promise<void> {
  for (;;) {
    try {
      await connect(flags).getCase();
      tell(`The server at ${findConnection(flags).url} answers.`);
      return;
    } catch (error) {
      const name = (error as Error).name;
      if (name !== 'Unreachable' && !(name === 'AuthenticationError' && flags.url === undefined)) throw error;
      for (const line of describeFailure(error).lines) tell(line);
      const start = hasService() ? asRoot('systemctl start snitch') : 'snitch serve';
      tell(`If none runs on this host, start one in another terminal: ${start}`);
      await ask({ text: 'Press Enter to look again', help: 'Ctrl-D leaves.' });
    }
  }
}

type Way = 'email' | 'ntfy' | 'slack' | 'other' | 'revise' | 'on';

/** Shows who gets alerts now, and adds more until the user is done. */
async function toldStep(client: Client, flags: MailFlags): Promise<void> {
  for (;;) {
    tell('');
    tell('1. Who gets the alerts');
    const [own, channels, audience] = await Promise.all([
      client.getCase(),
      channelsOf(client),
      client.getAudience().catch(() => null),
    ]);
    const sendsEmail = audience?.sends_email ?? true;
    const members = own.members.length > 0 ? own.members.join(', ') : 'nobody';
    tell(`   by email: ${members}${sendsEmail ? '' : ' (email is off: there is no mail server)'}`);
    for (const { name, kind, refused } of channels) {
      tell(`   by ${name} (${kind})${refused ? `, which refuses: ${refused.error}` : ''}`);
    }
    const isReached = channels.some(({ refused }) => !refused) || (sendsEmail && own.members.length > 0);
    const choices: Choice<Way>[] = [
      { name: 'email', text: 'email' },
      { name: 'ntfy', text: kindInWords('ntfy') },
      { name: 'slack', text: kindInWords('slack') },
      { name: 'other', text: 'another kind of channel' },
      ...(channels.length > 0 ? [{ name: 'revise', text: 'test, change or delete a channel' } as const] : []),
      { name: 'on', text: 'go on' },
    ];
    const help = 'Each one that you choose is set up and tested at once. Several are better than one.';
    const way = await untilSkipped(
      () => choose('Add a way?', choices, isReached ? 'on' : 'ntfy', help),
      'on',
    );
    if (way === 'on') return;
    await step(() => (way === 'email' ? emailStep(client, flags) : channelStep(client, way, channels)));
  }
}

async function channelStep(
  client: Client,
  way: Exclude<Way, 'email' | 'on'>,
  channels: readonly WireChannel[],
): Promise<void> {
  if (way === 'revise') return reviseChannel(client, channels);
  await addChannel(client, way === 'other' ? await chooseKind() : way);
}

async function emailStep(client: Client, flags: MailFlags): Promise<void> {
  const tried = await untilSkipped(() => setUpMail(flags), null);
  const { members } = await client.getCase();
  const suggested = tried !== null && !members.includes(tried) ? tried : '';
  const answer = await ask({
    text: `Who gets alerts by email, separated by commas${suggested === '' ? ' (empty: no change)' : ''}`,
    ...(suggested === '' ? {} : { otherwise: suggested }),
    help: 'Addresses are added to the existing ones. A minus in front removes one: -ann@example.com',
    problem: (given) => {
      const wrong = addressesIn(given).find((one) => !isEmailAddress(one.replace(/^-/, '')));
      return wrong === undefined ? null : `${wrong} is not an email address.`;
    },
  });
  const given = addressesIn(answer);
  const removed = given.filter((one) => one.startsWith('-')).map((one) => one.slice(1));
  const wanted = new Set([...members, ...given.filter((one) => !one.startsWith('-'))]);
  for (const one of removed) wanted.delete(one);
  if ([...wanted].join() === members.join()) return;
  const changed = await client.updateCase({ members: [...wanted] });
  tell(`Told by email: ${changed.members.join(', ') || 'nobody'}.`);
}

function addressesIn(text: string): string[] {
  return text.split(/[,\s]+/).filter((one) => one !== '');
}

async function snitchStep(client: Client): Promise<void> {
  for (;;) {
    tell('');
    tell('2. A job to watch');
    const length = await client.eachSnitch(() => {});
    if (length > 0)
      tell(
        `   There ${length === 1 ? 'is' : 'are'} ${countOf(length, 'snitch', 'snitches')}: see \`snitch list\`.`,
      );
    const help = '`snitch discover` finds the jobs on this host, and creates a snitch for each.';
    const question = length > 0 ? 'Make another?' : 'Create a first snitch?';
    if (!(await untilSkipped(() => agrees(question, length > 0 ? 'n' : 'y', help), false))) return;
    await step(() => makeSnitch(client));
  }
}

/** A failure is reported, and the step can be chosen again; only leaving ends the setup. */
async function step(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const { name } = error as Error;
    if (name === 'Left' || name === 'Stopped') throw error;
    if (name === 'Skipped') tell('Left out.');
    else for (const line of describeFailure(error).lines) tell(line);
  }
}

async function untilSkipped<T>(run: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if ((error as Error).name === 'Skipped') return otherwise;
    throw error;
  }
}
