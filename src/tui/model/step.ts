/** The dashboard as one function: from a state and an event to the next state and what has to be done. */
import type { WireSilence } from '../../api/wire-kept-back.ts';
import { printable } from '../../text/printable.ts';
import { withHealth } from '../servers/servers.ts';
import { applyChanges, arrange, replaceAll } from './collection.ts';
import { refuse } from './form.ts';
import { listHeight } from './layout.ts';
import { moveInAlerts } from './movement.ts';
import { clickAt, wheel } from './pointer.ts';
import { pressKey } from './press.ts';
import { showForeseen } from './preview.ts';
import { foresee, pasteInto } from './prompts.ts';
import { changedRows, withRow } from './row-details.ts';
import { keepSelection, selectIndex, visibleEntries } from './selection.ts';
import { type AlertsScreen, type Event, initialState, type State, type Step, say, stay } from './state.ts';
import { rereadOf } from './under-way.ts';

/** How long the message about an action is shown, in milliseconds. */
const MESSAGE_STAYS = 8_000;

export function step(state: State, event: Event): Step {
  switch (event.kind) {
    case 'key':
      return pressKey(state, event.key);
    case 'paste':
      return foresee(pasteInto(state, event.text));
    case 'click':
      return clickAt(state, event);
    case 'wheel':
      return stay(wheel(state, event.by));
    case 'all':
    case 'changes':
      return receive(state, event);
    case 'silences':
      return receiveSilences(state, event.silences);
    case 'tick':
      return tick(state, event.now);
    case 'refused':
    case 'saved':
    case 'foreseen':
      return stay(answerForm(state, event));
    default:
      return stay(note(state, event));
  }
}

function tick(before: State, now: number): Step {
  const state = { ...before, now, message: messageAt(before, now) };
  return stay(state, ...rereadOf(state, before.now));
}

type Received = Extract<Event, { kind: 'all' | 'changes' }>;

function receive(state: State, event: Received): Step {
  const collection =
    event.kind === 'all'
      ? replaceAll(state.collection, event.snitches)
      : applyChanges(state.collection, event.changed, event.deleted);
  const changed = event.kind === 'all' ? event.snitches : event.changed;
  const rows = changedRows(state.rows, state.collection.entries, changed, event.at);
  const after = keepSelection(state, { ...state, collection, rows, heardAt: event.at });
  const { screen } = after;
  if (screen.kind === 'alerts') return stay(after, { do: 'load-alerts' });
  if (screen.kind !== 'detail') return stay(after);
  if (!collection.entries.has(screen.token)) {
    // A question stays open: otherwise what somebody is typing there would be commands to the table.
    return stay(say({ ...after, screen: { kind: 'table' } }, 'The snitch was deleted.'));
  }
  const concerns = event.kind === 'all' || event.changed.some(({ token }) => token === screen.token);
  return concerns ? stay(after, { do: 'load-detail', token: screen.token }) : stay(after);
}

/** A silence moves deadlines, so the rows on the screen have to be read again. */
function receiveSilences(before: State, silences: readonly WireSilence[]): Step {
  if (JSON.stringify(silences) === JSON.stringify(before.silences)) return stay(before);
  const rows = new Map([...before.rows].map(([token, row]) => [token, { ...row, stale: true }]));
  const state = { ...before, silences, rows };
  const { screen } = state;
  return screen.kind === 'detail' ? stay(state, { do: 'load-detail', token: screen.token }) : stay(state);
}

type Answer = Extract<Event, { kind: 'saved' | 'refused' | 'foreseen' }>;

function answerForm(state: State, event: Answer): State {
  const form = state.overlay?.kind === 'form' ? state.overlay : null;
  if (event.kind === 'foreseen')
    return form ? { ...state, overlay: showForeseen(form, event.foreseen) } : state;
  // Somebody may have left the form before the answer came, and may be typing into another one.
  const isAwaited = form?.busy === true;
  if (event.kind === 'refused') {
    if (isAwaited) return { ...state, overlay: refuse(form, event.error, event.validations) };
    const reasons = event.validations.map(({ attribute, message }) => `${attribute} ${message}`);
    return say(state, `Not saved: ${printable(reasons.join('; ') || event.error)}`, 'bad');
  }
  if (!isAwaited) return state;
  const closed = { ...state, overlay: null };
  const index = state.collection.shown.findIndex(({ token }) => token === event.token);
  return index === -1 ? closed : selectIndex(closed, index);
}

type Noted = Exclude<
  Event,
  Answer | Received | { kind: 'key' | 'paste' | 'click' | 'wheel' | 'silences' | 'tick' }
>;

function note(state: State, event: Noted): State {
  switch (event.kind) {
    case 'resized':
      return inView(state, { size: { columns: event.columns, rows: event.rows } });
    case 'heard':
      return { ...state, heardAt: event.at };
    case 'link':
      return inView(state, { link: event.link });
    case 'case':
      return { ...state, caseName: event.name };
    case 'server':
      return { ...state, servers: withHealth(state.servers, event.name, event.health) };
    case 'switched':
      return switched(state, event);
    case 'reach':
      return inView(state, { nobody: event.nobody });
    case 'unfinished':
      return { ...state, marks: new Set([...state.marks, ...stillThere(state, event.tokens)]) };
    case 'said':
      return { ...state, message: { text: event.text, tone: event.tone, at: event.at } };
    case 'row':
      return noteRow(state, event);
    case 'detail':
      return noteDetail(state, event);
    case 'alerts':
      return noteAlerts(state, event);
  }
}

/** After a change of how many rows fit on the screen. */
function inView(state: State, change: Partial<State>): State {
  return alertsInView(keepSelection(state, { ...state, ...change }));
}

/** Nothing of the previous server may stay on the screen, except how the table is sorted. */
function switched(state: State, { name, url }: Extract<Event, { kind: 'switched' }>): State {
  const { now, size, servers, readonly, collection } = state;
  const { sort, reverse } = collection.arrangement;
  const fresh = initialState({ now, size, server: url, serverName: name, servers, readonly });
  return say({ ...fresh, collection: arrange(fresh.collection, { sort, reverse }) }, `Now at ${name}.`);
}

function stillThere({ collection }: State, tokens: readonly string[]): string[] {
  return tokens.filter((token) => collection.entries.has(token));
}

function noteRow(state: State, { token, detail }: Extract<Event, { kind: 'row' }>): State {
  const visible = new Set(visibleEntries(state).map((entry) => entry.token));
  return { ...state, rows: withRow(state.rows, token, detail, visible) };
}

function noteDetail(state: State, event: Extract<Event, { kind: 'detail' }>): State {
  const { screen } = state;
  if (screen.kind !== 'detail' || screen.token !== event.token) return state;
  return { ...state, screen: { ...screen, detail: event.detail ?? screen.detail, error: event.error } };
}

function noteAlerts(state: State, event: Extract<Event, { kind: 'alerts' }>): State {
  const { screen } = state;
  if (screen.kind !== 'alerts') return state;
  const { error } = event;
  const alerts = event.alerts ?? screen.alerts;
  const deliveries = event.deliveries ?? screen.deliveries;
  const read = { ...screen, alerts, deliveries, error };
  return alertsInView({ ...state, screen: { ...read, cursor: sameRow(screen, read) } });
}

/**
 * Where the row that is selected is now, so that a key never acts on another one. Until somebody moves, the newest is
 * selected, and so is what takes the place of a row that is gone.
 */
function sameRow(before: AlertsScreen, after: AlertsScreen): number {
  const { cursor } = before;
  const id = rowsOf(before)[cursor]?.id;
  const index = rowsOf(after).findIndex((row) => row.id === id);
  return cursor === 0 || index === -1 ? cursor : index;
}

function rowsOf({ tab, alerts, deliveries }: AlertsScreen): readonly { id: string }[] {
  return (tab === 'alerts' ? alerts : deliveries) ?? [];
}

/** Scrolls a list of alerts so that the selected row is on the screen. */
function alertsInView(state: State): State {
  const { screen } = state;
  return screen.kind === 'alerts' ? { ...state, screen: moveInAlerts(screen, 0, listHeight(state)) } : state;
}

function messageAt({ message }: State, now: number): State['message'] {
  return message && now - message.at < MESSAGE_STAYS ? message : null;
}
