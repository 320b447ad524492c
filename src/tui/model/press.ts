/** What a key does on each screen. */

import { ownSilences, silenceOver } from '../silences/silenced.ts';
import { type Arrangement, arrange } from './collection.ts';
import type { Entry } from './entry.ts';
import { editForm, newForm } from './form.ts';
import { type Action, bindingFor } from './keys.ts';
import { isMove, type Move, move } from './movement.ts';
import { SORT_KEYS } from './order.ts';
import { foresee, pressInOverlay } from './prompts.ts';
import { keepSelection, nameOf, selected, targets } from './selection.ts';
import { type AlertsScreen, type State, type Step, say, stay } from './state.ts';
import { fieldWith } from './text-field.ts';

export function pressKey(state: State, key: string): Step {
  if (key === 'ctrl+c') return stay(state, { do: 'quit' });
  if (state.overlay) return pressInOverlay(state, state.overlay, key);
  const binding = bindingFor(state.screen.kind, key);
  if (!binding) return stay(state);
  if (binding.changes && state.readonly) return stay(say(state, 'This dashboard is read-only.', 'bad'));
  const { action } = binding;
  return isMove(action) ? stay(move(state, action)) : act(state, action);
}

function act(state: State, action: Exclude<Action, Move>): Step {
  switch (action) {
    case 'quit':
      return stay(state, { do: 'quit' });
    case 'refresh':
      return stay(say(state, 'Reading everything again.'), { do: 'refresh' });
    case 'help':
      return stay({ ...state, overlay: { kind: 'help', scroll: 0 } });
    case 'filter': {
      const { filter } = state.collection.arrangement;
      return stay({ ...state, overlay: { kind: 'filter', field: fieldWith(filter), before: filter } });
    }
    case 'sort':
    case 'reverse':
      return stay(sortByKey(state, action));
    case 'mark':
      return stay(toggleMark(state));
    case 'mark-all':
      return stay(toggleAllMarks(state));
    case 'new':
      return stay({ ...state, overlay: newForm(state.collection.sorted.map(({ snitch }) => snitch)) });
    case 'open':
      return openSelected(state);
    case 'servers':
      return openServers(state);
    case 'alerts':
      return openAlerts(state);
    case 'back': {
      const back = goBack(state);
      // Nothing kept the list up to date while it was not on the screen.
      return back.screen.kind === 'alerts' ? stay(back, { do: 'load-alerts' }) : stay(back);
    }
    case 'tab':
      return stay(otherTab(state));
    case 'open-alert':
      return openAlertOrRetry(state);
    default:
      return actOnSnitch(state, action);
  }
}

type OnSnitch =
  | 'pause'
  | 'unpause'
  | 'acknowledge'
  | 'unacknowledge'
  | 'silence'
  | 'end-silence'
  | 'edit'
  | 'delete'
  | 'tag'
  | 'copy'
  | 'copy-more';

function actOnSnitch(state: State, action: OnSnitch): Step {
  const entry = selected(state);
  const tokens = targets(state);
  if (!entry || tokens.length === 0) return stay(say(state, 'There is no snitch here.'));
  switch (action) {
    case 'pause':
    case 'silence':
      return stay({
        ...state,
        overlay: { kind: action, tokens, choice: 0, other: fieldWith(''), problem: null },
      });
    case 'end-silence':
      return endSilences(state, entry, tokens);
    case 'unpause':
      return stay(say({ ...state, marks: new Set() }, `Unpausing ${nameOf(state, tokens)}.`), {
        do: 'unpause',
        tokens,
      });
    case 'acknowledge':
      return askForNote(state, tokens);
    case 'unacknowledge':
      return takeBack(state, tokens);
    case 'tag':
      return stay({ ...state, overlay: { kind: 'tag', tokens, field: fieldWith('') } });
    case 'edit':
      return foresee({
        ...state,
        overlay: editForm(
          entry.snitch,
          state.collection.sorted.map(({ snitch }) => snitch),
        ),
      });
    case 'delete':
      return stay({ ...state, overlay: { kind: 'delete', token: entry.token } });
    case 'copy-more':
      return stay({ ...state, overlay: { kind: 'paste', token: entry.token, choice: 0 } });
    case 'copy':
      return stay(state, {
        do: 'copy',
        text: entry.snitch.check_in_url,
        what: `the check-in URL of ${entry.name}`,
      });
  }
}

/** Of the chosen snitches, only those with an alarm can be acknowledged. */
function askForNote(state: State, chosen: readonly string[]): Step {
  const tokens = chosen.filter((token) => isAlarm(state, token));
  if (tokens.length === 0)
    return stay(say(state, 'Nothing is wrong here: only what is failed or errored is acknowledged.'));
  return stay({ ...state, overlay: { kind: 'acknowledge', tokens, field: fieldWith('') } });
}

function takeBack(state: State, chosen: readonly string[]): Step {
  const tokens = chosen.filter((token) => state.collection.entries.get(token)?.snitch.acknowledged);
  if (tokens.length === 0) return stay(say(state, 'Nobody has acknowledged an alarm here.'));
  const after = say({ ...state, marks: new Set() }, `Taking it back for ${nameOf(state, tokens)}.`);
  return stay(after, { do: 'unacknowledge', tokens });
}

function isAlarm({ collection }: State, token: string): boolean {
  const status = collection.entries.get(token)?.snitch.status;
  return status === 'failed' || status === 'errored';
}

function endSilences(state: State, entry: Entry, tokens: readonly string[]): Step {
  const ids = ownSilences(state.silences, tokens);
  if (ids.length > 0) {
    const after = { ...state, marks: new Set<string>() };
    return stay(say(after, `Ending the silence of ${nameOf(state, tokens)}.`), { do: 'end-silences', ids });
  }
  const over = silenceOver(state.silences, entry.snitch, state.now);
  if (!over) return stay(say(state, `${nameOf(state, tokens)}: nothing silences it.`));
  return stay(say(state, `Others are silenced with it: snitch silence --end ${over.id}`));
}

export function openSelected(state: State): Step {
  const entry = selected(state);
  return entry ? openDetail(state, entry.token, null) : stay(state);
}

function openDetail(state: State, token: string, from: AlertsScreen | null): Step {
  const screen = { kind: 'detail', token, scroll: 0, detail: null, error: null, from } as const;
  return stay({ ...state, cursor: token, screen }, { do: 'load-detail', token });
}

function openServers(state: State): Step {
  if (state.servers.length < 2) {
    return stay(say(state, 'There is only one server: snitch server add NAME URL adds another.'));
  }
  const cursor = state.servers.findIndex(({ name }) => name === state.serverName);
  return stay({ ...state, overlay: { kind: 'servers', cursor: Math.max(0, cursor) } }, { do: 'ask-servers' });
}

function openAlerts(state: State): Step {
  const screen = {
    kind: 'alerts',
    tab: 'alerts',
    cursor: 0,
    top: 0,
    alerts: null,
    deliveries: null,
    error: null,
  } as const;
  return stay({ ...state, screen }, { do: 'load-alerts' });
}

function goBack(state: State): State {
  const { screen } = state;
  if (screen.kind === 'detail' && screen.from) return { ...state, screen: screen.from };
  if (screen.kind !== 'table') return keepSelection(state, { ...state, screen: { kind: 'table' } });
  if (state.marks.size > 0) return { ...state, marks: new Set() };
  return keepSelection(state, { ...state, collection: arrange(state.collection, { filter: '' }) });
}

function sortByKey(state: State, action: 'sort' | 'reverse'): State {
  const { sort, reverse } = state.collection.arrangement;
  const next = SORT_KEYS[(SORT_KEYS.indexOf(sort) + 1) % SORT_KEYS.length] ?? 'due';
  return sortBy(state, action === 'sort' ? { sort: next, reverse: false } : { reverse: !reverse });
}

export function sortBy(state: State, change: Partial<Pick<Arrangement, 'sort' | 'reverse'>>): State {
  const after = keepSelection(state, { ...state, collection: arrange(state.collection, change) });
  const { arrangement } = after.collection;
  return say(after, `Sorted by ${arrangement.sort}${arrangement.reverse ? ', reversed' : ''}.`);
}

function toggleMark(state: State): State {
  const entry = selected(state);
  if (!entry) return state;
  const marks = new Set(state.marks);
  if (!marks.delete(entry.token)) marks.add(entry.token);
  return move({ ...state, cursor: entry.token, marks }, 'down');
}

/** Marks everything that is shown, or unmarks everything if all of it is marked already. */
function toggleAllMarks(state: State): State {
  const shown = state.collection.shown.map(({ token }) => token);
  if (shown.length === 0) return say(state, 'There is nothing to mark here.');
  const marks = new Set(state.marks);
  if (shown.every((token) => marks.has(token))) return { ...state, marks: new Set() };
  for (const token of shown) marks.add(token);
  return say({ ...state, marks }, `Marked ${marks.size === 1 ? '1 snitch' : `${marks.size} snitches`}.`);
}

function otherTab(state: State): State {
  if (state.screen.kind !== 'alerts') return state;
  const tab = state.screen.tab === 'alerts' ? 'deliveries' : 'alerts';
  return { ...state, screen: { ...state.screen, tab, cursor: 0, top: 0 } };
}

/** Opens the snitch of an alert, or sends a dead delivery again, depending on the list. */
function openAlertOrRetry(state: State): Step {
  const { screen } = state;
  if (screen.kind !== 'alerts') return stay(state);
  return screen.tab === 'alerts' ? openSnitchOf(state, screen) : retryDelivery(state, screen);
}

function openSnitchOf(state: State, screen: AlertsScreen): Step {
  const alert = screen.alerts?.[screen.cursor];
  if (!alert) return stay(state);
  if (!alert.snitch) return stay(say(state, 'This notice is about the service, not about one snitch.'));
  const { token } = alert.snitch;
  if (!state.collection.entries.has(token)) return stay(say(state, 'That snitch has been deleted.'));
  return openDetail(state, token, screen);
}

function retryDelivery(state: State, { deliveries, cursor }: AlertsScreen): Step {
  const delivery = deliveries?.[cursor];
  if (!delivery) return stay(state);
  if (state.readonly) return stay(say(state, 'This dashboard is read-only.', 'bad'));
  if (delivery.state !== 'dead') return stay(say(state, 'Only a dead delivery can be sent again.'));
  return stay(say(state, 'Sending it again.'), { do: 'retry', delivery: delivery.id });
}
