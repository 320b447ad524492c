/** Draws questions as lines: prompts below the table, and the form and the help in its place. */
import { SNIPPET_KINDS, SNIPPET_TITLES } from '../../core/snippets/snippet.ts';
import { printable } from '../../text/printable.ts';
import { charactersOf, displayWidth, fit, wrapWords } from '../../text/width.ts';
import type { Glyphs } from '../drawing/glyphs.ts';
import { asciiLines, clip, type Line, type Span, widthOfLine } from '../drawing/line.ts';
import { scrollTo } from '../drawing/window.ts';
import { healthInWords } from '../servers/servers.ts';
import { bindingsOf } from './keys.ts';
import { layoutOf } from './layout.ts';
import { choicesFor, pauseHint } from './pause-choices.ts';
import { nameOf } from './selection.ts';
import type { Overlay, PasteOverlay, PauseOverlay, State } from './state.ts';
import { aroundCaret, type TextField } from './text-field.ts';

/** The prompt below the body. The form and the help have none, because they take the place of the body. */
export function promptLines(state: State, glyphs: Glyphs): readonly Line[] {
  const { overlay } = state;
  if (overlay === null) return [];
  const all = linesOf(state, overlay, glyphs);
  const lines = all.slice(firstShown(overlay, all.length, layoutOf(state).promptHeight));
  return glyphs.unicode ? lines : asciiLines(lines);
}

/** A low screen has no room for all choices: the chosen one is shown, and what is wrong with the text. */
function firstShown(overlay: Overlay, count: number, height: number): number {
  if (overlay.kind !== 'pause' && overlay.kind !== 'silence' && overlay.kind !== 'paste') return 0;
  const chosen = 1 + overlay.choice;
  const isWrong = overlay.kind !== 'paste' && overlay.problem !== null;
  const last = isWrong ? count - 1 : Math.min(chosen + 1, count - 1);
  return Math.min(chosen, scrollTo(last, 0, Math.max(1, height), count));
}

function linesOf(state: State, overlay: Overlay, glyphs: Glyphs): Line[] {
  const room = (label: string) => state.size.columns - displayWidth(label);
  switch (overlay.kind) {
    case 'filter':
      return [[{ text: '/', bold: true }, ...fieldSpans(overlay.field, room('/'))]];
    case 'tag':
      return [
        [
          { text: `Tags for ${nameOf(state, overlay.tokens)}`, bold: true },
          { text: '  -tag removes', dim: true },
        ],
        [{ text: 'Tags: ' }, ...fieldSpans(overlay.field, room('Tags: '))],
      ];
    case 'acknowledge':
      return [
        [{ text: `Acknowledge ${nameOf(state, overlay.tokens)}`, bold: true }],
        [{ text: 'Note: ' }, ...fieldSpans(overlay.field, room('Note: '))],
      ];
    case 'delete':
      return [
        [
          {
            text: `Delete ${nameOf(state, [overlay.token])}${placeOf(state)}? Its check-in URL stops working.`,
            color: 'red',
            bold: true,
          },
        ],
        [
          { text: 'y', bold: true },
          { text: ' delete   ' },
          { text: 'any other key', bold: true },
          { text: ' keep it' },
        ],
      ];
    case 'pause':
    case 'silence':
      return pauseLines(state, overlay, glyphs);
    case 'paste':
      return pasteLines(state, overlay, glyphs);
    default:
      return [];
  }
}

/** If there are several servers, a question about something that cannot be undone names the server. */
function placeOf({ servers, serverName }: State): string {
  return servers.length > 1 && serverName !== null ? ` on ${serverName}` : '';
}

/** The list of servers, which takes the place of the table: which one is shown, and how all of them are. */
export function serverLines(state: State, cursor: number, height: number, glyphs: Glyphs): readonly Line[] {
  const { servers, serverName, size } = state;
  const room = Math.max(8, Math.min(24, Math.floor(size.columns / 3)));
  const lines = servers.map(({ name, url, health }, index): Line => {
    const isChosen = index === cursor;
    const color = ({ asking: null, ok: 'green', away: 'red' } as const)[health.state];
    const isBad = health.state === 'ok' && health.failed + health.errored > 0;
    const text = fit(`${printable(name)}${name === serverName ? ' (here)' : ''}`, room, glyphs.ellipsis);
    const words: Span = {
      text: healthInWords(health),
      ...(color ? { color: isBad ? 'red' : color } : { dim: true }),
    };
    return clip(
      [
        { text: isChosen ? `${glyphs.cursor} ` : '  ', bold: true },
        { text: `${text}${' '.repeat(Math.max(0, room - displayWidth(text)))}  `, bold: isChosen },
        words,
        { text: `  ${url}`, dim: true },
      ],
      size.columns,
    );
  });
  // Room for the heading.
  const first = Math.max(0, Math.min(cursor - Math.floor((height - 1) / 2), lines.length - (height - 1)));
  const all = [[{ text: 'Servers', bold: true }], ...lines.slice(first)];
  return glyphs.unicode ? all : asciiLines(all);
}

function pauseLines(state: State, overlay: PauseOverlay, glyphs: Glyphs): Line[] {
  const choices = choicesFor(overlay.kind).map(({ label, until }, index): Line => {
    const isChosen = index === overlay.choice;
    const mark: Span = { text: isChosen ? `${glyphs.cursor} ` : '  ', bold: true };
    const room = state.size.columns - displayWidth(mark.text) - displayWidth(label) - 1;
    const other = until === null && isChosen ? [{ text: ' ' }, ...fieldSpans(overlay.other, room)] : [];
    return [mark, { text: label, bold: isChosen }, ...other];
  });
  const hint = pauseHint(overlay, state.size.columns, glyphs.unicode);
  return [
    [
      {
        text: `${overlay.kind === 'pause' ? 'Pause' : 'Silence'} ${nameOf(state, overlay.tokens)} until`,
        bold: true,
      },
    ],
    ...choices,
    ...hint.map((text): Line => [overlay.problem === null ? { text, dim: true } : { text, color: 'red' }]),
  ];
}

function pasteLines(state: State, { token, choice }: PasteOverlay, glyphs: Glyphs): Line[] {
  const keys = `${glyphs.unicode ? '↑↓' : 'arrows'} choose  enter copy  esc cancel`;
  return [
    [{ text: `Copy what to paste for ${nameOf(state, [token])}`, bold: true }],
    ...SNIPPET_KINDS.map((kind, index): Line => {
      const isChosen = index === choice;
      const mark: Span = { text: isChosen ? `${glyphs.cursor} ` : '  ', bold: true };
      return [mark, { text: SNIPPET_TITLES[kind], bold: isChosen }];
    }),
    [{ text: keys, dim: true }],
  ];
}

/**
 * The part of the text around the caret, which is drawn because the terminal's own cursor is hidden.
 *
 * @param room in columns
 */
export function fieldSpans(field: TextField, room: number): Line {
  const { text, caret } = aroundCaret(field, Math.max(2, room));
  const [at = ' ', ...rest] = charactersOf(text.slice(caret));
  return [{ text: text.slice(0, caret) }, { text: at, inverse: true }, { text: rest.join('') }];
}

/** The keys of the screen, every text in full; in two columns if one column would be too tall. */
export function helpLines(state: State, glyphs: Glyphs): readonly Line[] {
  const { screen, readonly, size } = state;
  const name = { table: 'the table', detail: 'a snitch', alerts: 'alerts and deliveries' }[screen.kind];
  const keys = bindingsOf(screen.kind, readonly).map(({ show, help }) => ({ show, help }));
  const all = [...keys, { show: 'mouse', help: 'click selects, again opens; on a title sorts' }];
  const height = layoutOf(state).bodyHeight - 2;
  const one = all.flatMap(({ show, help }) => keyLines(show, help, size.columns, glyphs));
  const isTall = one.length > height;
  const lines =
    isTall && size.columns >= TWO_COLUMNS ? inTwoColumns(all, Math.floor(size.columns / 2), glyphs) : one;
  const close = `${lines.length > height ? 'j and k scroll, other keys close' : 'Any other key closes'} this.`;
  return [[{ text: `Keys of ${name}`, bold: true }], [{ text: close, dim: true }], ...lines];
}

/** At this width and above, half the screen has room for a key and what it does. */
const TWO_COLUMNS = 76;
const KEY_WIDTH = 9;

interface Key {
  show: string;
  help: string;
}

function inTwoColumns(keys: readonly Key[], width: number, glyphs: Glyphs): Line[] {
  const drawn = keys.map(({ show, help }) => keyLines(show, help, width - 1, glyphs));
  const half = Math.ceil(drawn.flat().length / 2);
  const [left, right]: [Line[], Line[]] = [[], []];
  for (const lines of drawn) (left.length < half ? left : right).push(...lines);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row): Line => {
    const [first = [], second = []] = [left[row], right[row]];
    if (second.length === 0) return first;
    return [...first, { text: ' '.repeat(width - widthOfLine(first)) }, ...second];
  });
}

function keyLines(show: string, help: string, width: number, glyphs: Glyphs): Line[] {
  const key = glyphs.unicode ? show : asciiKey(show);
  return wrapWords(help, Math.max(1, width - KEY_WIDTH)).map((text, row) => [
    { text: ` ${(row === 0 ? key : '').padEnd(KEY_WIDTH - 1)}`, bold: true },
    { text },
  ]);
}

function asciiKey(show: string): string {
  return show
    .replace('⏎', 'enter')
    .replace(/[^\x20-\x7e]/g, '')
    .trim();
}
