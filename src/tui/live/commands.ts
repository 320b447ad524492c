/** Carries out what the keys ask for through the API, and says how it went. */
import { ApiError, type Client } from '../../api/client.ts';
import type { WireLogEntry } from '../../api/log.ts';
import { printable } from '../../text/printable.ts';
import { LOG_SHOWN } from '../model/detail-lines.ts';
import { tokenOf } from '../model/rule-text.ts';
import { nameOf } from '../model/selection.ts';
import type { Effect, Message } from '../model/state.ts';
import type { Foresight } from './foresight.ts';
import { latest } from './latest.ts';
import { lostOf } from './lost.ts';
import { reasonOf } from './reason-of.ts';
import { Requests } from './requests.ts';
import { type ServerParts, toServers } from './server-switch.ts';
import { endSilences, silence } from './silences.ts';
import { copySnippet, copyText } from './snippets.ts';
import type { Store } from './store.ts';

export interface CommandParts extends ServerParts {
  client: Client;
  store: Store;
  quit: () => void;
  refresh: () => void;
  foresight: Pick<Foresight, 'ask'>;
  /** Reads the silences again. */
  readSilences: () => void;
  /** Copies a text to the clipboard of the terminal. */
  copy: (text: string) => void;
  /** The path by which cron and systemd on this host call this program. */
  program: string;
}

/** How many requests run at the same time when many snitches are marked. */
const AT_ONCE = 4;

/** An action on one or several snitches that is under way. */
interface Work {
  /** The action as a participle, such as `Paused`. */
  done: string;
  finished: number;
  all: number;
}

export interface Commands {
  carryOut: (effect: Effect) => void;
  /** What would be left undone if the program ended now, a line for each action. */
  unfinished: () => readonly string[];
}

export function createCommands(parts: CommandParts): Commands {
  const { client, store } = parts;
  const works = new Set<Work>();
  const requests = new Requests();
  const say = sayIn(store);
  const onAll = onAllOf(store, works, say);
  const { details, alerts } = latestOf(client, store);
  const carryOut: Commands['carryOut'] = (effect) => {
    switch (effect.do) {
      case 'quit':
        return parts.quit();
      case 'refresh':
        return parts.refresh();
      case 'ask-servers':
      case 'switch-server':
        return toServers(parts, effect, works.size > 0 || requests.areOpen, say);
      case 'copy':
        return copyText(parts, effect, say);
      case 'copy-snippet':
        return void copySnippet(parts, effect, say);
      case 'pause':
        return onAll(effect.tokens, 'Paused', (token) => client.pause(token, effect.until));
      case 'unpause':
        return onAll(effect.tokens, 'Unpaused', (token) => client.unpause(token));
      case 'acknowledge':
        return onAll(effect.tokens, 'Acknowledged', acknowledge(client, effect));
      case 'unacknowledge':
        return onAll(effect.tokens, 'Unacknowledged', (token) => client.unacknowledge(token));
      case 'silence':
      case 'end-silences':
      case 'save':
      case 'retry':
        return requests.add(...askOnce(parts, effect, say));
      case 'tag':
        return onAll(effect.tokens, 'Tagged', (token) => changeTags(client, token, effect));
      case 'delete':
        return onAll([effect.token], 'Deleted', deletion(client));
      case 'foresee':
        return parts.foresight.ask(effect);
      case 'load-detail':
        return details(effect.token);
      case 'load-alerts':
        return alerts('');
    }
  };
  return { carryOut, unfinished: () => [...[...works].map(leftUndone), ...requests.unfinished()] };
}

type Single = Extract<Effect, { do: 'silence' | 'end-silences' | 'save' | 'retry' }>;

/** Begins a single request. @returns it, and what is true once it has been carried out */
function askOnce(parts: CommandParts, effect: Single, say: Say): [Promise<void>, string] {
  const state = parts.store.get();
  switch (effect.do) {
    case 'silence': {
      const name = nameOf(state, effect.tokens);
      const isOne = effect.tokens.length === 1;
      return [silence(parts, effect, name, say), `${name} ${isOne ? 'is' : 'are'} silenced`];
    }
    case 'end-silences':
      return [endSilences(parts, effect.ids, say), 'the silence has ended'];
    case 'save': {
      const { token, input } = effect;
      const name = input.name ?? nameOf(state, token === null ? [] : [token]);
      return [save(parts, effect, say), `${name} is saved`];
    }
    case 'retry':
      return [retry(parts, effect.delivery, say), 'the delivery is sent again'];
  }
}

function latestOf(client: Client, store: Store) {
  return {
    details: latest((token: string) => loadDetail(client, store, token)),
    alerts: latest(() => loadAlerts(client, store)),
  };
}

function acknowledge(client: Client, { note }: { note: string | null }) {
  return (token: string) => client.acknowledge(token, { note });
}

/** One that somebody else deleted meanwhile is deleted as well. */
function deletion(client: Client) {
  return async (token: string) => {
    try {
      await client.deleteSnitch(token);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  };
}

/** Acts on all of the snitches, and reports the progress and the result. */
function onAllOf(store: Store, works: Set<Work>, say: Say) {
  return (tokens: readonly string[], done: string, call: (token: string) => Promise<unknown>): void => {
    const name = nameOf(store.get(), tokens);
    const work: Work = { done, finished: 0, all: tokens.length };
    works.add(work);
    const onProgress = progressOf(work, ({ finished, all }) =>
      say(`${done} ${finished} of ${all}; the rest follows.`, 'plain'),
    );
    void eachOf(tokens, call, onProgress).then((failures) => {
      works.delete(work);
      if (tokens.length > 1)
        store.dispatch({ kind: 'unfinished', tokens: failures.map(({ token }) => token) });
      reportAll(say, { name, done, tokens, failures });
    });
  };
}

function leftUndone({ done, finished, all }: Work): string {
  return `the dashboard was quit when ${finished} of ${all} ${finished === 1 ? 'was' : 'were'} ${done.toLowerCase()}: do it again for the rest`;
}

type Say = (text: string, tone: Message['tone']) => void;

function sayIn(store: Store): Say {
  return (text, tone) => store.dispatch({ kind: 'said', text: printable(text), tone, at: store.get().now });
}

interface Failure {
  token: string;
  error: Error;
}

/** How often a long action reports its progress, in milliseconds. */
const PROGRESS_EVERY = 1_000;

/** Counts what is finished. Reports it at most once a second, and not when all is finished. */
function progressOf(work: Work, tell: (work: Work) => void): () => void {
  let toldAt = performance.now();
  return () => {
    work.finished += 1;
    if (work.finished === work.all || performance.now() - toldAt < PROGRESS_EVERY) return;
    toldAt = performance.now();
    tell(work);
  };
}

async function eachOf(
  tokens: readonly string[],
  call: (token: string) => Promise<unknown>,
  onDone: () => void,
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  const rest = [...tokens];
  const worker = async () => {
    for (let token = rest.shift(); token !== undefined; token = rest.shift()) {
      await call(token).then(onDone, (error: Error) => failures.push({ token: token as string, error }));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return failures;
}

function reportAll(
  say: Say,
  outcome: { name: string; done: string; tokens: readonly string[]; failures: readonly Failure[] },
): void {
  const { name, done, tokens, failures } = outcome;
  const [first] = failures;
  if (!first) {
    say(`${done} ${name}.`, 'good');
    return;
  }
  const count = tokens.length === 1 ? '' : ` (${failures.length} of ${tokens.length}, still marked)`;
  say(
    `Not ${done.toLowerCase()}${tokens.length === 1 ? ` ${name}` : ''}${count}: ${reasonOf(first.error)}`,
    'bad',
  );
}

async function changeTags(
  client: Client,
  token: string,
  { add, remove }: { add: readonly string[]; remove: readonly string[] },
): Promise<void> {
  if (add.length > 0) await client.addTags(token, add);
  for (const tag of remove) await client.removeTag(token, tag);
}

async function save(
  { client, store }: CommandParts,
  { token, input: typed }: Extract<Effect, { do: 'save' }>,
  say: Say,
): Promise<void> {
  const present = store.get().collection.sorted.map(({ snitch }) => snitch);
  const needs = typed.needs?.map((need) => tokenOf(need, present));
  const input = needs ? { ...typed, needs } : typed;
  try {
    const snitch = await (token === null ? client.createSnitch(input) : client.updateSnitch(token, input));
    store.dispatch({ kind: 'changes', changed: [snitch], deleted: [], at: store.get().now });
    store.dispatch({ kind: 'saved', token: snitch.token });
    const done = `${token === null ? 'Created' : 'Saved'} ${snitch.name}`;
    const lost = lostOf(snitch, input);
    if (lost !== '') return say(`${done} without its ${lost}: the server is too old for that.`, 'bad');
    const isHidden = !store.get().collection.shown.some((entry) => entry.token === snitch.token);
    say(`${done}${isHidden ? '; the filter hides it' : ''}.`, 'good');
  } catch (error) {
    const validations = error instanceof ApiError ? (error.body?.validations ?? []) : [];
    store.dispatch({ kind: 'refused', error: (error as Error).message, validations });
  }
}

async function retry({ client, store }: CommandParts, delivery: string, say: Say): Promise<void> {
  try {
    await client.retryDelivery(delivery);
    say('The delivery waits to be sent again; its line shows the result.', 'good');
    await loadAlerts(client, store);
  } catch (error) {
    say(`Not sent again: ${reasonOf(error as Error)}`, 'bad');
  }
}

async function loadDetail(client: Client, store: Store, token: string): Promise<void> {
  try {
    const [explanation, checkIns, alerts, log] = await Promise.all([
      client.explain(token),
      client.listCheckIns(token, { limit: 100 }),
      client.listAlerts(token, { limit: 30 }),
      logOf(client, token),
    ]);
    store.dispatch({ kind: 'detail', token, detail: { explanation, checkIns, alerts, log }, error: null });
  } catch (error) {
    store.dispatch({ kind: 'detail', token, detail: null, error: printable((error as Error).message) });
  }
}

/** Empty if the server is too old to keep a log. */
async function logOf(client: Client, token: string): Promise<WireLogEntry[]> {
  try {
    return await client.listLog({ token, limit: LOG_SHOWN });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

async function loadAlerts(client: Client, store: Store): Promise<void> {
  try {
    const [alerts, deliveries] = await Promise.all([
      client.listAlerts(null, { limit: 100 }),
      client.listDeliveries({ limit: 100 }),
    ]);
    store.dispatch({ kind: 'alerts', alerts, deliveries, error: null });
  } catch (error) {
    const { message } = error as Error;
    store.dispatch({ kind: 'alerts', alerts: null, deliveries: null, error: printable(message) });
  }
}
