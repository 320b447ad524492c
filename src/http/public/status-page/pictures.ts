/** The few pictures of the page. What their colour says, their shape says too. */
import type { Mark } from '../../../core/status-page/strip.ts';

/** From one mark to the next, and the height of a strip. */
const STEP = 10;
const HEIGHT = 28;

interface Form {
  letter: string;
  /** The heights of its lines; the style sets their thickness, and dashes them into marks. */
  lines: readonly number[];
}

/** Marks for what is not well rise above the others, and those for what is not watched lie below them. */
const FORMS: Record<Mark, Form> = {
  well: { letter: 'w', lines: [17] },
  missing: { letter: 'm', lines: [14] },
  error: { letter: 'e', lines: [6, 22] },
  paused: { letter: 'p', lines: [24] },
  planned: { letter: 'l', lines: [17, 26] },
  away: { letter: 'a', lines: [21] },
  none: { letter: 'n', lines: [27] },
};

/**
 * The marks side by side, as SVG. Marks of the same kind in a row are one dashed line, so the markup of a strip is
 * short.
 */
export function stripPicture(marks: readonly Mark[], label: string): string {
  const paths = new Map<Mark, string>();
  let from = 0;
  for (let to = 1; to <= marks.length; to += 1) {
    const mark = marks[from];
    if (mark === undefined || marks[to] === mark) continue;
    paths.set(mark, `${paths.get(mark) ?? ''}${linesOf(mark, from, to - from)}`);
    from = to;
  }
  const drawn = [...paths].map(([mark, path]) => `<path class="${FORMS[mark].letter}" d="${path}"/>`);
  const box = `0 0 ${marks.length * STEP} ${HEIGHT}`;
  return `<svg class="strip" viewBox="${box}" preserveAspectRatio="none" role="img" aria-label="${label}">${drawn.join('')}</svg>`;
}

/** Each line begins a little after the edge of its place, and ends with its last mark. */
function linesOf(mark: Mark, from: number, count: number): string {
  return FORMS[mark].lines.map((at) => `M${from * STEP + 1} ${at}h${count * STEP - 2}`).join('');
}

/** A single mark, for the legend. */
export function markPicture(mark: Mark): string {
  const path = linesOf(mark, 0, 1);
  return `<svg class="mark" viewBox="0 0 ${STEP} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><path class="${FORMS[mark].letter}" d="${path}"/></svg>`;
}

const SIGNS = {
  well: '<path d="M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0zM7 11.6 3.6 8.2l1.3-1.3L7 9l4.2-4.2 1.3 1.3z"/>',
  bad: '<path d="M8 .6 16 15H0zM7.1 5.6l.2 4.6h1.4l.2-4.6zM8 11.3a1 1 0 1 0 0 2 1 1 0 0 0 0-2z"/>',
  calm: '<path d="M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0zM4.8 4.5h2v7h-2zm4.4 0h2v7h-2z"/>',
  open: '<path d="M8 0a8 8 0 1 0 0 16A8 8 0 0 0 8 0zm0 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2z"/>',
};

export type Sign = keyof typeof SIGNS;

/** In the colour of the text around it. */
export function signPicture(sign: Sign): string {
  return `<svg viewBox="0 0 16 16" fill="currentColor" fill-rule="evenodd" aria-hidden="true">${SIGNS[sign]}</svg>`;
}

const ICON_COLOURS: Record<Sign, string> = {
  well: '%231e7f4f',
  bad: '%23c0281d',
  calm: '%234a5d8f',
  open: '%23747b88',
};

/** The icon that a browser shows next to the title. */
export function iconLink(sign: Sign): string {
  const drawn = SIGNS[sign].replace('<path', `<path fill="${ICON_COLOURS[sign]}" fill-rule="evenodd"`);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${drawn}</svg>`;
  const text = svg
    .replaceAll('"', "'")
    .replaceAll('<', '%3C')
    .replaceAll('>', '%3E')
    .replaceAll('%2523', '%23');
  return `<link rel="icon" href="data:image/svg+xml,${text}">\n`;
}
