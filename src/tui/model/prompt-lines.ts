/** Draws questions as lines: prompts below the table, and the form and the help in its place. */
import { charactersOf } from '../../text/width.ts';
import type { Glyphs } from './glyphs.ts';
import { bindingsOf } from './keys.ts';
import { asciiLines, type Line, type Span } from './line.ts';
import { choicesFor, pauseHint } from './pause-choices.ts';
import { nameOf } from './selection.ts';
import type { Overlay, PauseOverlay, State } from './state.ts';
import type { TextField } from './text-field.ts';

/** The prompt below the body. The form and the help have none, because they take the place of the body. */
export function promptLines(state: State, glyphs: Glyphs): readonly Line[] {
  const lines = state.overlay ? linesOf(state, state.overlay, glyphs) : [];
  return glyphs.unicode ? lines : asciiLines(lines);
}

function linesOf(state: State, overlay: Overlay, glyphs: Glyphs): Line[] {
  switch (overlay.kind) {
    case 'filter':
      return [[{ text: '/', bold: true }, ...fieldSpans(overlay.field)]];
    case 'tag':
      return [
        [
          { text: `Tags for ${nameOf(state, overlay.tokens)}`, bold: true },
          { text: '  -tag removes', dim: true },
        ],
        [{ text: 'Tags: ' }, ...fieldSpans(overlay.field)],
      ];
    case 'acknowledge':
      return [
        [{ text: `Acknowledge ${nameOf(state, overlay.tokens)}`, bold: true }],
        [{ text: 'Note: ' }, ...fieldSpans(overlay.field)],
      ];
    case 'delete':
      return [
        [
          {
            text: `Delete ${nameOf(state, [overlay.token])}? Its check-in URL stops working.`,
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
    default:
      return [];
  }
}

function pauseLines(state: State, overlay: PauseOverlay, glyphs: Glyphs): Line[] {
  const choices = choicesFor(overlay.kind).map(({ label, until }, index): Line => {
    const isChosen = index === overlay.choice;
    const mark: Span = { text: isChosen ? `${glyphs.cursor} ` : '  ', bold: true };
    const other = until === null && isChosen ? [{ text: ' ' }, ...fieldSpans(overlay.other)] : [];
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

/** The text with a caret, which is drawn because the terminal's own cursor is hidden. */
export function fieldSpans({ text, caret }: TextField): Line {
  const [at = ' ', ...rest] = charactersOf(text.slice(caret));
  return [{ text: text.slice(0, caret) }, { text: at, inverse: true }, { text: rest.join('') }];
}

export function helpLines({ screen, readonly }: State, glyphs: Glyphs): readonly Line[] {
  const name = { table: 'the table', detail: 'a snitch', alerts: 'alerts and deliveries' }[screen.kind];
  const keys = bindingsOf(screen.kind, readonly).map(({ show, help }): Line => {
    const text = glyphs.unicode
      ? show
      : show
          .replace('⏎', 'enter')
          .replace(/[^\x20-\x7e]/g, '')
          .trim();
    return [{ text: `  ${text.padEnd(8)}`, bold: true }, { text: help }];
  });
  const mouse: Line[] = [
    [{ text: '  mouse   ', bold: true }, { text: 'click selects, again opens; on a title sorts' }],
  ];
  return [
    [{ text: `Keys of ${name}`, bold: true }],
    [],
    ...keys,
    ...mouse,
    [],
    [{ text: 'Any other key closes this.', dim: true }],
  ];
}
