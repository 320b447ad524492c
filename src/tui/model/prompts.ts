/** What a key does while something is being asked. */
import { SNIPPET_KINDS } from '../../core/snippets/snippet.ts';
import { understandEnd, understandUntil } from '../../text/until.ts';
import { clamp } from '../drawing/window.ts';
import { arrange } from './collection.ts';
import { editField, type FormOverlay, moveFocus, showProblems, typeIntoForm } from './form.ts';
import { readForm } from './form-input.ts';
import { isMove, type Move, move } from './movement.ts';
import { choicesFor } from './pause-choices.ts';
import { askAnew } from './preview.ts';
import { keepSelection, nameOf } from './selection.ts';
import {
  type Overlay,
  type PasteOverlay,
  type PauseOverlay,
  type State,
  type Step,
  say,
  stay,
} from './state.ts';
import { insert, type TextField, typeInto } from './text-field.ts';

export function pressInOverlay(state: State, overlay: Overlay, key: string): Step {
  if (key === 'escape') return stay(cancel(state, overlay));
  switch (overlay.kind) {
    case 'help':
      return stay(pressInHelp(state, key));
    case 'servers':
      return pressInServers(state, overlay.cursor, key);
    case 'filter':
      return stay(key === 'enter' ? close(state) : filterBy(state, typeInto(overlay.field, key)));
    case 'delete':
      return confirmDelete(state, overlay.token, key);
    case 'tag':
      return key === 'enter' ? tagAll(state, overlay.tokens, overlay.field.text) : stay(typeTag(state, key));
    case 'acknowledge':
      return key === 'enter' ? acknowledgeAll(state, overlay) : stay(typeNote(state, key));
    case 'pause':
    case 'silence':
      return pressInPause(state, overlay, key);
    case 'paste':
      return pressInPaste(state, overlay, key);
    case 'form':
      return pressInForm(state, overlay, key);
  }
}

function close(state: State): State {
  return { ...state, overlay: null };
}

function cancel(state: State, overlay: Overlay): State {
  if (overlay.kind !== 'filter') return close(state);
  return keepSelection(state, {
    ...close(state),
    collection: arrange(state.collection, { filter: overlay.before }),
  });
}

const HELP_MOVES: Record<string, Move> = {
  j: 'down',
  down: 'down',
  k: 'up',
  up: 'up',
  pagedown: 'page-down',
  pageup: 'page-up',
};

function pressInHelp(state: State, key: string): State {
  const action = HELP_MOVES[key];
  return action && isMove(action) ? move(state, action) : close(state);
}

/** Leaves everything as it is until the choice is made. */
function pressInServers(state: State, cursor: number, key: string): Step {
  const { servers, serverName } = state;
  const at = (index: number) =>
    stay({ ...state, overlay: { kind: 'servers', cursor: clamp(index, 0, servers.length - 1) } });
  if (key === 'r') return stay(state, { do: 'ask-servers' });
  if (key === 'q' || key === '@') return stay(close(state));
  if (key === 'enter') {
    const name = servers[cursor]?.name;
    if (name === undefined || name === serverName) return stay(close(state));
    return stay(close(state), { do: 'switch-server', name });
  }
  const move = HELP_MOVES[key];
  if (move === 'down') return at(cursor + 1);
  if (move === 'up') return at(cursor - 1);
  return stay(state);
}

function filterBy(state: State, field: TextField | null): State {
  if (!field || state.overlay?.kind !== 'filter') return state;
  const collection = arrange(state.collection, { filter: field.text });
  return keepSelection(state, { ...state, overlay: { ...state.overlay, field }, collection });
}

function confirmDelete(state: State, token: string, key: string): Step {
  if (key !== 'y' && key !== 'Y') return stay(say(close(state), 'Nothing was deleted.'));
  return stay(close(state), { do: 'delete', token });
}

function typeTag(state: State, key: string): State {
  if (state.overlay?.kind !== 'tag') return state;
  return {
    ...state,
    overlay: { ...state.overlay, field: typeInto(state.overlay.field, key) ?? state.overlay.field },
  };
}

function typeNote(state: State, key: string): State {
  const { overlay } = state;
  if (overlay?.kind !== 'acknowledge') return state;
  return { ...state, overlay: { ...overlay, field: typeInto(overlay.field, key) ?? overlay.field } };
}

/** Most people have no time to write one, so the note may stay empty. */
function acknowledgeAll(state: State, { tokens, field }: Extract<Overlay, { kind: 'acknowledge' }>): Step {
  const after = say({ ...close(state), marks: new Set() }, `Acknowledging ${nameOf(state, tokens)}.`);
  const note = field.text.trim();
  return stay(after, { do: 'acknowledge', tokens, note: note === '' ? null : note });
}

/** `db -old` adds `db` and removes `old`. With commas in between, tags may have spaces. */
function tagAll(state: State, tokens: readonly string[], text: string): Step {
  const words = text
    .split(text.includes(',') ? ',' : /\s+/)
    .map((word) => word.trim())
    .filter((word) => word !== '' && word !== '-');
  if (words.length === 0) return stay(close(state));
  const remove = words.filter((word) => word.startsWith('-')).map((word) => word.slice(1));
  const add = words.filter((word) => !word.startsWith('-'));
  return stay({ ...close(state), marks: new Set() }, { do: 'tag', tokens, add, remove });
}

function pressInPause(state: State, overlay: PauseOverlay, key: string): Step {
  const count = choicesFor(overlay.kind).length;
  const choose = (choice: number) =>
    stay({ ...state, overlay: { ...overlay, choice: (choice + count) % count, problem: null } });
  if (key === 'up' || key === 'shift+tab') return choose(overlay.choice - 1);
  if (key === 'down' || key === 'tab') return choose(overlay.choice + 1);
  if (key === 'enter') return pauseAll(state, overlay);
  const other = typeInto(overlay.other, key);
  return other
    ? stay({ ...state, overlay: { ...overlay, other, choice: count - 1, problem: null } })
    : stay(state);
}

/** If the text is not understood, the prompt says so and stays open, with the text as it was typed. */
function pauseAll(state: State, overlay: PauseOverlay): Step {
  const { tokens, choice, other } = overlay;
  const understand = overlay.kind === 'silence' ? understandEnd : understandUntil;
  const understood = understand(choicesFor(overlay.kind)[choice]?.until ?? other.text, state.now);
  if ('problem' in understood) {
    return stay({ ...state, overlay: { ...overlay, problem: understood.problem } });
  }
  const { until } = understood;
  if (overlay.kind === 'silence') {
    const silencing = say({ ...close(state), marks: new Set() }, `Silencing ${nameOf(state, tokens)}.`);
    return stay(silencing, { do: 'silence', tokens, until });
  }
  const after = say({ ...close(state), marks: new Set() }, `Pausing ${nameOf(state, tokens)}.`);
  return stay(after, { do: 'pause', tokens, until });
}

function pressInPaste(state: State, overlay: PasteOverlay, key: string): Step {
  const { token, choice } = overlay;
  const count = SNIPPET_KINDS.length;
  const choose = (next: number) =>
    stay({ ...state, overlay: { ...overlay, choice: (next + count) % count } });
  if (['up', 'k', 'shift+tab'].includes(key)) return choose(choice - 1);
  if (['down', 'j', 'tab'].includes(key)) return choose(choice + 1);
  const kind = SNIPPET_KINDS[choice];
  if (key !== 'enter' || kind === undefined) return stay(state);
  return stay(close(state), { do: 'copy-snippet', token, kind });
}

const TOO_OLD = 'is unknown to the server, which is too old and must be updated first';

function pressInForm(state: State, form: FormOverlay, key: string): Step {
  const show = (overlay: FormOverlay) => foresee({ ...state, overlay });
  if (form.busy) return stay(state);
  if (key === 'tab' || key === 'down') return show(moveFocus(form, 1));
  if (key === 'shift+tab' || key === 'up') return show(moveFocus(form, -1));
  if (key !== 'enter' && key !== 'ctrl+s') return show(typeIntoForm(form, key));
  const { input, problems } = readForm(form);
  if (Object.keys(problems).length > 0) return stay({ ...state, overlay: showProblems(form, problems) });
  if (input.schedule && form.preview.isUnknown) {
    return stay({ ...state, overlay: showProblems(form, { schedule: TOO_OLD }) });
  }
  if (form.token !== null && Object.keys(input).length === 0)
    return stay(say(close(state), 'Nothing was changed.'));
  const sent = { ...state, overlay: { ...form, busy: true } };
  return stay(sent, { do: 'save', token: form.token, input });
}

/** Asks when the schedule in the form is due, unless that has been asked already. */
export function foresee(state: State): Step {
  if (state.overlay?.kind !== 'form') return stay(state);
  const anew = askAnew(state.overlay);
  if (anew === null) return stay(state);
  const { form: overlay, asked, question } = anew;
  return stay({ ...state, overlay }, { do: 'foresee', asked, question });
}

/** Pasted text goes into the field that has the focus. Elsewhere it does nothing. */
export function pasteInto(state: State, text: string): State {
  const { overlay } = state;
  switch (overlay?.kind) {
    case 'filter':
      return filterBy(state, insert(overlay.field, text));
    case 'tag':
      return { ...state, overlay: { ...overlay, field: insert(overlay.field, text) } };
    case 'acknowledge':
      return { ...state, overlay: { ...overlay, field: insert(overlay.field, text) } };
    case 'pause':
    case 'silence': {
      const other = insert(overlay.other, text);
      const choice = choicesFor(overlay.kind).length - 1;
      return { ...state, overlay: { ...overlay, other, choice, problem: null } };
    }
    case 'form':
      return { ...state, overlay: editField(overlay, (field) => insert(field, text)) };
    default:
      return state;
  }
}
