/** The lines above and below the body: the server, the counts, the age of the data, and the keys. */
import { compactDuration } from '../../text/durations.ts';
import { printable } from '../../text/printable.ts';
import { displayWidth, fit, toAscii, truncate } from '../../text/width.ts';
import { type Glyphs, STATUS_COLOR } from '../drawing/glyphs.ts';
import type { Line, Span } from '../drawing/line.ts';
import { clip, widthOfLine } from '../drawing/line.ts';
import { activeSilences } from '../silences/silenced.ts';
import { bindingsOf } from './keys.ts';
import { URGENCY } from './order.ts';
import { selected } from './selection.ts';
import type { Overlay, State } from './state.ts';

export function headerLines(state: State, glyphs: Glyphs): readonly Line[] {
  return [titleLine(state, glyphs), totalsLine(state, glyphs)];
}

function titleLine(state: State, glyphs: Glyphs): Line {
  const { columns } = state.size;
  const age = linkWord(state, glyphs);
  // The name comes first, because it keeps people from changing something on the wrong server.
  const name = state.servers.length > 1 && state.serverName !== null ? `${state.serverName} ` : '';
  const shown = truncate(glyphs.unicode ? name : toAscii(name), Math.max(0, columns - 20), glyphs.ellipsis);
  const where = [state.server, state.caseName, state.readonly ? 'read-only' : null]
    .filter((part) => part !== null)
    .join(` ${glyphs.dot} `);
  const title = 'Snitch ';
  const room = columns - title.length - displayWidth(shown) - displayWidth(age.text) - 1;
  const place = fit(
    glyphs.unicode ? printable(where) : toAscii(printable(where)),
    Math.max(0, room),
    glyphs.ellipsis,
  );
  const named: Span[] = shown === '' ? [] : [{ text: shown, bold: true, color: 'cyan' }];
  return clip(
    [{ text: title, bold: true }, ...named, { text: place, dim: true }, { text: ' ' }, age],
    columns,
  );
}

function linkWord({ link, heardAt, now }: State, glyphs: Glyphs): Span {
  switch (link.state) {
    case 'connecting':
      return { text: `connecting${glyphs.ellipsis}`, color: 'cyan' };
    case 'live':
      return { text: 'live', color: 'green' };
    case 'polling':
      return { text: `polled ${dataAge(heardAt, now)} ago`, color: 'yellow' };
    case 'lost':
      return { text: 'no connection', color: 'red', bold: true };
    case 'refused':
      return { text: 'refused', color: 'red', bold: true };
  }
}

export function dataAge(heardAt: number | null, now: number): string {
  return heardAt === null ? 'never' : compactDuration(Math.max(0, now - heardAt));
}

/** All five counts, with their words and the order of the table if there is room. */
function totalsLine(state: State, glyphs: Glyphs): Line {
  const { totals, entries, arrangement } = state.collection;
  const { size } = state;
  const silences = silencesSpans(state, glyphs);
  const spansOf = (withWords: boolean): Span[] =>
    URGENCY.flatMap((status): Span[] => {
      const word = withWords ? ` ${status}` : '';
      const span = {
        text: `${glyphs.status[status]} ${grouped(totals[status])}${word}`,
        bold: totals[status] > 0,
      };
      return [
        totals[status] > 0 ? { ...span, color: STATUS_COLOR[status] } : { ...span, dim: true },
        { text: '  ' },
      ];
    });
  const all: Span = { text: `${grouped(entries.size)} in all`, dim: true };
  const order: Span = {
    text: `, by ${arrangement.sort}${arrangement.reverse ? ', reversed' : ''}`,
    dim: true,
  };
  const forms = [
    [...spansOf(true), ...silences(true), all, order],
    [...spansOf(true), ...silences(true), all],
    [...spansOf(false), ...silences(true), all, order],
    [...spansOf(false), ...silences(true)],
    [...spansOf(false), ...silences(false)],
  ];
  const fitting = forms.find((form) => widthOfLine(form) <= size.columns) ?? [
    ...silences(false),
    ...spansOf(false),
  ];
  return clip(fitting, size.columns);
}

/** How many silences are in force; nothing if none is. */
function silencesSpans({ silences, now }: State, glyphs: Glyphs): (withWord: boolean) => Span[] {
  const count = activeSilences(silences, now).length;
  if (count === 0) return () => [];
  const word = count === 1 ? ' silence' : ' silences';
  return (withWord) => [
    { text: `${glyphs.silenced} ${grouped(count)}${withWord ? word : ''}`, color: 'yellow', bold: true },
    { text: '  ' },
  ];
}

/** 12345 → `12,345`, the same in every locale. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** The warnings between the totals and the body. */
export function bannerLines(state: State, glyphs: Glyphs): readonly Line[] {
  return [nobodyLine(state, glyphs), bannerLine(state, glyphs)].filter((line) => line !== null);
}

/** Which alerts reach nobody; null if all of them reach somebody. */
function nobodyLine({ nobody, size }: State, glyphs: Glyphs): Line | null {
  if (nobody === null) return null;
  const words = printable(` N${nobody.slice(1)}: see \`snitch doctor\``);
  const text = fit(glyphs.unicode ? words : toAscii(words), size.columns, glyphs.ellipsis);
  return [{ text, color: 'red', inverse: true, bold: true }];
}

/** What is wrong with the connection, or else which filter hides snitches; null if there is neither. */
function bannerLine(state: State, glyphs: Glyphs): Line | null {
  const { link, heardAt, now, collection, size } = state;
  const write = (text: string, span: Omit<Span, 'text'>): Line => [
    {
      ...span,
      text: fit(glyphs.unicode ? printable(text) : toAscii(printable(text)), size.columns, glyphs.ellipsis),
    },
  ];
  if (link.state === 'lost') {
    const age = heardAt === null ? 'No data yet' : `Data is ${dataAge(heardAt, now)} old`;
    const next =
      link.retryAt === null ? '' : `; next try in ${compactDuration(Math.max(0, link.retryAt - now))}`;
    return write(` ${age}${next}: ${link.error ?? 'no connection'}`, {
      color: 'red',
      inverse: true,
      bold: true,
    });
  }
  if (link.state === 'refused') {
    const reason = (link.error ?? 'no reason given').replace(/\.$/, '');
    return write(` Refused: ${reason}. What is shown is old; r tries again.`, {
      color: 'red',
      inverse: true,
      bold: true,
    });
  }
  if (link.error !== null)
    return write(` Reading the list now and then: ${link.error}`, { color: 'yellow', inverse: true });
  const { filter } = collection.arrangement;
  if (filter === '') return null;
  const counts = `${grouped(collection.shown.length)} of ${grouped(collection.entries.size)}`;
  return write(`Filter: ${filter}  (${counts})`, { color: 'cyan' });
}

/** What the keys do while a question is open; empty if the question itself says it. */
const OVERLAY_HINT: Record<Overlay['kind'], string> = {
  filter: 'enter keep  esc undo  tag:x  status:x  !not',
  tag: 'enter send  esc cancel',
  acknowledge: 'enter send  esc cancel  or no note',
  pause: '',
  silence: '',
  paste: '',
  delete: '',
  form: '',
  help: '',
  servers: 'enter switch  esc stay  r ask again',
};

/** The last message while it is fresh, otherwise the keys of this screen. */
export function footerLine(state: State, glyphs: Glyphs): Line {
  const { message, size } = state;
  if (message) {
    const color = ({ good: 'green', bad: 'red', plain: null } as const)[message.tone];
    const text = fit(
      glyphs.unicode ? printable(message.text) : toAscii(printable(message.text)),
      size.columns,
      glyphs.ellipsis,
    );
    return [color ? { text, color, bold: message.tone === 'bad' } : { text }];
  }
  const hint = state.overlay ? OVERLAY_HINT[state.overlay.kind] : null;
  if (hint !== null) return clip([{ text: hint, dim: true }], size.columns);
  const help: Line = [
    { text: '?', bold: true },
    { text: ' help ' },
    { text: 'q', bold: true },
    { text: ' quit' },
  ];
  const room = size.columns - widthOfLine(help);
  const keys: Span[] = [];
  for (const { show, word } of offered(state)) {
    const added = [
      { text: glyphs.unicode ? show : toAscii(show.replace('⏎', 'enter')), bold: true },
      { text: ` ${word}  ` },
    ];
    if (widthOfLine([...keys, ...added]) > room) break;
    keys.push(...added);
  }
  return clip([...keys, ...help], size.columns);
}

/** The keys that make sense for what is selected, those for an alarm first. */
function offered(state: State): { show: string; word: string }[] {
  const { status, acknowledged } = selected(state)?.snitch ?? {};
  const holds = {
    alarm: (status === 'failed' || status === 'errored') && !acknowledged,
    paused: status === 'paused' || state.marks.size > 0,
    unpaused: status !== 'paused' || state.marks.size > 0,
    several: state.servers.length > 1,
  };
  const all = bindingsOf(state.screen.kind, state.readonly).flatMap(({ show, word, action, when }) =>
    !word || action === 'help' || action === 'quit' || (when && !holds[when]) ? [] : [{ show, word, when }],
  );
  return [...all.filter(({ when }) => when === 'alarm'), ...all.filter(({ when }) => when !== 'alarm')];
}
