/** The few pictures of the page. What they say by their colour they say by their form as well. */
import type { Mark } from '../../../core/status-page/strip.ts';

/** Between two marks, and the height of a strip. */
const STEP = 10;
const HEIGHT = 28;

interface Form {
  letter: string;
  /** Drawn from the left upper corner of its place; it ends there, so that the next one can begin. */
  path: string;
}

/** What is not well stands out above the others, and what is not watched lies below them. */
export const FORMS: Record<Mark, Form> = {
  well: { letter: 'w', path: 'm1 6h8v22h-8zm-1-6' },
  missing: { letter: 'm', path: 'm1 0h8v28h-8zm-1 0' },
  error: { letter: 'e', path: 'm1 0h8v12h-8zm0 16h8v12h-8zm-1-16' },
  paused: { letter: 'p', path: 'm1 20h8v8h-8zm-1-20' },
  planned: { letter: 'l', path: 'm1 14h8v5h-8zm0 9h8v5h-8zm-1-23' },
  away: { letter: 'a', path: 'm4 14h2v14h-2zm-4-14' },
  none: { letter: 'n', path: 'm3 25h4v3h-4zm-3-25' },
};

/** The marks side by side, as SVG. */
export function stripPicture(marks: readonly Mark[], label: string): string {
  const paths = new Map<Mark, { path: string; at: number }>();
  for (const [index, mark] of marks.entries()) {
    const { path, at } = paths.get(mark) ?? { path: 'M0 0', at: 0 };
    const move = index === at ? '' : `m${(index - at) * STEP} 0`;
    paths.set(mark, { path: `${path}${move}${FORMS[mark].path}`, at: index });
  }
  const drawn = [...paths].map(([mark, { path }]) => `<path class="${FORMS[mark].letter}" d="${path}"/>`);
  const box = `0 0 ${marks.length * STEP} ${HEIGHT}`;
  return `<svg class="strip" viewBox="${box}" preserveAspectRatio="none" role="img" aria-label="${label}">${drawn.join('')}</svg>`;
}

/** One mark alone, for the legend. */
export function markPicture(mark: Mark): string {
  const { letter, path } = FORMS[mark];
  return `<svg viewBox="0 0 ${STEP} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"><path class="${letter}" d="M0 0${path}"/></svg>`;
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

/** What a browser shows beside the title. */
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
