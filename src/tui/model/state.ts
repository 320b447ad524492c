/**
 * Everything that the dashboard knows. `step` makes the next state from this one and an event, and views only draw it.
 * Times are milliseconds since the epoch. The words are those of the API.
 */
import type { SnitchInput } from '../../api/client.ts';
import type { WireLogEntry } from '../../api/log.ts';
import type { WireAlert, WireCheckIn, WireDelivery, WireError, WireSnitch } from '../../api/wire.ts';
import type { WireExplanation } from '../../api/wire-explanation.ts';
import type { WireSilence } from '../../api/wire-kept-back.ts';
import type { SnippetKind } from '../../core/snippets/snippet.ts';
import type { Health, ServerSeen } from '../servers/servers.ts';
import { type Collection, EMPTY } from './collection.ts';
import type { Foreseen, Question } from './foreseen.ts';
import type { FormOverlay } from './form.ts';
import type { TextField } from './text-field.ts';

/** The connection by which the data comes in. */
export interface Link {
  /** `refused` means that the server answers, but does not accept this API key. */
  state: 'connecting' | 'live' | 'polling' | 'lost' | 'refused';
  error: string | null;
  /** When the next attempt will be made; null if none is needed. */
  retryAt: number | null;
}

/** What the table shows in addition to a snitch. It is read only while its row is on the screen. */
export interface RowDetail {
  deadlineAt: number | null;
  /** The deadline that a failed snitch missed; null for others, and if the server does not say. */
  missingSince: number | null;
  timezone: string;
  period: { start: number; end: number };
  /** Newest first. */
  checkIns: readonly Pick<WireCheckIn, 'at' | 'outcome'>[];
  /** Whether there are older check-ins than these. */
  more: boolean;
  /** When this was read. */
  readAt: number;
  /** Whether the snitch has changed since. These details are shown until they have been read again. */
  stale: boolean;
}

export interface SnitchDetail {
  explanation: WireExplanation;
  checkIns: readonly WireCheckIn[];
  alerts: readonly WireAlert[];
  /** Who changed it last, newest first; absent if the server does not say. */
  log?: readonly WireLogEntry[];
}

export type Screen =
  | { kind: 'table' }
  | {
      kind: 'detail';
      token: string;
      scroll: number;
      detail: SnitchDetail | null;
      error: string | null;
      /** The list of alerts that it was opened from, to return to; null for the table. */
      from: AlertsScreen | null;
    }
  | AlertsScreen;

export interface AlertsScreen {
  kind: 'alerts';
  tab: 'alerts' | 'deliveries';
  cursor: number;
  top: number;
  /** Null until they have been read. */
  alerts: readonly WireAlert[] | null;
  deliveries: readonly WireDelivery[] | null;
  error: string | null;
}

/** Asks for the end of a pause, or of a silence. */
export interface PauseOverlay {
  kind: 'pause' | 'silence';
  tokens: readonly string[];
  choice: number;
  other: TextField;
  /** What is wrong with the text, in words; null if nothing is. */
  problem: string | null;
}

/** Asks where the snippet that makes a job check in will be pasted. */
export interface PasteOverlay {
  kind: 'paste';
  token: string;
  choice: number;
}

export type Overlay =
  | { kind: 'filter'; field: TextField; before: string }
  | PauseOverlay
  | { kind: 'tag'; tokens: readonly string[]; field: TextField }
  | { kind: 'acknowledge'; tokens: readonly string[]; field: TextField }
  | { kind: 'delete'; token: string }
  | PasteOverlay
  | { kind: 'help'; scroll: number }
  | { kind: 'servers'; cursor: number }
  | FormOverlay;

export interface Message {
  text: string;
  tone: 'good' | 'bad' | 'plain';
  at: number;
}

export interface State {
  now: number;
  size: { columns: number; rows: number };
  /** Address of the server, without credentials. */
  server: string;
  /** Its name; null if it has none, or is the only server. */
  serverName: string | null;
  /** All servers to choose from; empty if there is only one. */
  servers: readonly ServerSeen[];
  /** The name of the case; null until it has been read. */
  caseName: string | null;
  /** Which snitches alert nobody at all, and why, in words; null if all of them alert somebody, as far as is known. */
  nobody: string | null;
  readonly: boolean;
  link: Link;
  /** When something last came from the server; null before the first time. */
  heardAt: number | null;
  collection: Collection;
  /** The token of the selected row. Null until somebody moves, so that the first row is selected, whichever it is. */
  cursor: string | null;
  /** Index of the first row on the screen. */
  top: number;
  marks: ReadonlySet<string>;
  rows: ReadonlyMap<string, RowDetail>;
  /** Those that are not over, as last read. */
  silences: readonly WireSilence[];
  screen: Screen;
  overlay: Overlay | null;
  message: Message | null;
}

export type Event =
  | { kind: 'tick'; now: number }
  | { kind: 'resized'; columns: number; rows: number }
  | { kind: 'key'; key: string }
  | { kind: 'paste'; text: string }
  | { kind: 'click'; column: number; row: number }
  | { kind: 'wheel'; by: number }
  | { kind: 'all'; snitches: readonly WireSnitch[]; at: number }
  | { kind: 'changes'; changed: readonly WireSnitch[]; deleted: readonly string[]; at: number }
  | { kind: 'heard'; at: number }
  | { kind: 'link'; link: Link }
  | { kind: 'case'; name: string }
  | { kind: 'server'; name: string; health: Health }
  /** Another server is shown from now on. Nothing is known about it yet. */
  | { kind: 'switched'; name: string; url: string }
  | { kind: 'reach'; nobody: string | null }
  | { kind: 'silences'; silences: readonly WireSilence[] }
  | { kind: 'row'; token: string; detail: RowDetail }
  | { kind: 'detail'; token: string; detail: SnitchDetail | null; error: string | null }
  | {
      kind: 'alerts';
      alerts: readonly WireAlert[] | null;
      deliveries: readonly WireDelivery[] | null;
      error: string | null;
    }
  | { kind: 'said'; text: string; tone: Message['tone']; at: number }
  /** Snitches for which an action on all marked ones failed. They are marked again. */
  | { kind: 'unfinished'; tokens: readonly string[] }
  | { kind: 'foreseen'; foreseen: Foreseen }
  | { kind: 'saved'; token: string }
  | { kind: 'refused'; error: string; validations: NonNullable<WireError['validations']> };

/** What has to be done besides drawing. */
export type Effect =
  | { do: 'quit' }
  | { do: 'refresh' }
  | { do: 'ask-servers' }
  | { do: 'switch-server'; name: string }
  | { do: 'pause'; tokens: readonly string[]; until: string | undefined }
  | { do: 'unpause'; tokens: readonly string[] }
  | { do: 'acknowledge'; tokens: readonly string[]; note: string | null }
  | { do: 'unacknowledge'; tokens: readonly string[] }
  | { do: 'silence'; tokens: readonly string[]; until: string }
  | { do: 'end-silences'; ids: readonly string[] }
  | { do: 'tag'; tokens: readonly string[]; add: readonly string[]; remove: readonly string[] }
  | { do: 'delete'; token: string }
  | { do: 'save'; token: string | null; input: SnitchInput }
  /** Asks when a schedule would be due, if nothing else is asked within a moment. */
  | { do: 'foresee'; asked: string; question: Question }
  | { do: 'copy'; text: string; what: string }
  | { do: 'copy-snippet'; token: string; kind: SnippetKind }
  | { do: 'load-detail'; token: string }
  | { do: 'load-alerts' }
  | { do: 'retry'; delivery: string };

export interface Step {
  state: State;
  effects: readonly Effect[];
}

export interface Beginning {
  now: number;
  size: State['size'];
  server: string;
  serverName?: string | null;
  servers?: readonly ServerSeen[];
  readonly: boolean;
}

export function initialState(beginning: Beginning): State {
  const { now, size, server, serverName = null, servers = [], readonly } = beginning;
  return {
    now,
    size,
    server,
    serverName,
    servers,
    readonly,
    caseName: null,
    nobody: null,
    link: { state: 'connecting', error: null, retryAt: null },
    heardAt: null,
    collection: EMPTY,
    cursor: null,
    top: 0,
    marks: new Set(),
    rows: new Map(),
    silences: [],
    screen: { kind: 'table' },
    overlay: null,
    message: null,
  };
}

export function stay(state: State, ...effects: Effect[]): Step {
  return { state, effects };
}

export function say(state: State, text: string, tone: Message['tone'] = 'plain'): State {
  return { ...state, message: { text, tone, at: state.now } };
}
