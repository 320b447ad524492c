/** The step of `snitch setup` in which channels are added, tried, changed and deleted. */
import type { Client } from '../../api/client.ts';
import type { WireChannel } from '../../api/wire.ts';
import { CHANNEL_KINDS, type ChannelKind, isChannelKind } from '../../core/channel.ts';
import { CHANNEL_SETTINGS } from '../../core/channels/settings.ts';
import { awaitDelivery } from '../alerts/webhook.ts';
import { ntfyAddress, settingQuestion } from '../channels/settings.ts';
import { tell } from '../command/prompt.ts';
import { describeFailure } from '../failure/failure.ts';
import { agrees, ask, type Choice, choose } from './dialogue.ts';

const WORDS: Partial<Record<ChannelKind, string>> = {
  ntfy: 'ntfy, a push message to phones',
  slack: 'Slack, a message in a channel',
};

/** Makes one, and tries it until it works or is left. */
export async function addChannel(client: Client, kind: ChannelKind): Promise<void> {
  const made = await untilTaken(async () => {
    const settings = kind === 'ntfy' ? await ntfySettings() : await settingsOf(kind, null);
    return client.createChannel({ kind, settings });
  });
  tell(`The channel ${made.name} is created.`);
  await tryChannel(client, made);
}

async function ntfySettings(): Promise<Record<string, string>> {
  const address = await ask({
    text: 'Address of the topic, such as https://ntfy.sh/our-alerts',
    help: 'Choose a topic that nobody guesses, and subscribe to it in the ntfy app: whoever knows it reads the alerts. A server of your own goes here as well.',
    problem: ntfyProblem,
  });
  const rule = CHANNEL_SETTINGS.ntfy.token;
  const token = rule ? await ask(settingQuestion(rule)) : '';
  return { ...ntfyAddress(address, URL.parse(address)), ...(token === '' ? {} : { token }) };
}

function ntfyProblem(given: string): string | null {
  if (given === '') return 'This is required; type skip to leave the step.';
  try {
    const settings = ntfyAddress(given, URL.parse(given));
    for (const [name, value] of Object.entries(settings)) {
      const fault = CHANNEL_SETTINGS.ntfy[name]?.problem(value);
      if (fault) return `The ${name} ${fault}.`;
    }
    return null;
  } catch (error) {
    return `It cannot be used: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

/** @param kept what it has now; null for a new one */
async function settingsOf(kind: ChannelKind, kept: WireChannel | null): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const [name, rule] of Object.entries(CHANNEL_SETTINGS[kind])) {
    const answer = await ask(settingQuestion(rule, kept?.settings[name] ?? null));
    if (answer !== '') settings[name] = answer;
  }
  return settings;
}

/** Reports what the server refuses, and asks again. */
async function untilTaken<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if ((error as { status?: number }).status !== 422) throw error;
      for (const line of describeFailure(error).lines) tell(`It was not taken: ${line}`);
    }
  }
}

type Next = 'again' | 'change' | 'keep' | 'delete';

const NEXT: readonly Choice<Next>[] = [
  { name: 'again', text: 'try again' },
  { name: 'change', text: 'change it' },
  { name: 'keep', text: 'keep it as it is' },
  { name: 'delete', text: 'delete it' },
];

/** Sends a test alert, and says what the service answered. */
export async function tryChannel(client: Client, channel: WireChannel): Promise<void> {
  for (let one = channel; ; ) {
    tell(`Sending a test alert to ${one.name} …`);
    const { state, last_error: error } = await awaitDelivery(client, await client.testChannel(one.id));
    if (state === 'delivered') {
      tell(`${one.name} accepted it: check that it has arrived.`);
      return;
    }
    tell(`It was not delivered: ${error ?? 'no attempt was made yet, because other alerts wait before it'}.`);
    const next = await choose('What now?', NEXT, 'change');
    if (next === 'keep') {
      tell(
        `${one.name} is kept. It may not reach anybody until a test works: snitch channel test ${one.name}`,
      );
      return;
    }
    if (next === 'delete') return deleteChannel(client, one);
    if (next === 'change') one = await changeChannel(client, one);
  }
}

async function changeChannel(client: Client, channel: WireChannel): Promise<WireChannel> {
  const { id, kind } = channel;
  if (!isChannelKind(kind)) return channel;
  return untilTaken(async () => client.updateChannel(id, { settings: await settingsOf(kind, channel) }));
}

async function deleteChannel(client: Client, { id, name }: WireChannel): Promise<void> {
  await client.deleteChannel(id);
  tell(`${name} is deleted.`);
}

/** All kinds except those that have their own line. */
export async function chooseKind(): Promise<ChannelKind> {
  const kinds = CHANNEL_KINDS.filter((kind) => !WORDS[kind]);
  return choose(
    'Which kind?',
    kinds.map((name) => ({ name, text: name.replaceAll('_', ' ') })),
    'telegram',
    'docs/channels.md says what each kind needs. For any other receiver of HTTP requests, use `snitch webhook add`.',
  );
}

export function kindInWords(kind: ChannelKind): string {
  return WORDS[kind] ?? kind;
}

/** Asks what to do with an existing channel. */
export async function reviseChannel(client: Client, channels: readonly WireChannel[]): Promise<void> {
  const [first] = channels;
  if (!first) return;
  const id = await choose(
    'Which one?',
    channels.map((one) => ({ name: one.id, text: `${one.name} (${one.kind})` })),
    first.id,
  );
  const channel = channels.find((one) => one.id === id) ?? first;
  const what = await choose<'test' | 'change' | 'delete'>(
    `${channel.name}:`,
    [
      { name: 'test', text: 'send a test alert' },
      { name: 'change', text: 'change it' },
      { name: 'delete', text: 'delete it' },
    ],
    'test',
  );
  if (what === 'delete') {
    if (await agrees(`Delete ${channel.name}?`, 'n')) await deleteChannel(client, channel);
  } else await tryChannel(client, what === 'change' ? await changeChannel(client, channel) : channel);
}
