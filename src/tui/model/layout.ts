/** Divides the rows of the screen among header, body, prompt and footer. */
import { SNIPPET_KINDS } from '../../core/snippets/snippet.ts';
import { choicesFor, pauseHint } from './pause-choices.ts';
import type { State } from './state.ts';

export interface Layout {
  /** The rows above the body: the title, the totals, and the banner if there is one. */
  bodyTop: number;
  /** The rows of the body, including the column titles. */
  bodyHeight: number;
  /** The rows of the prompt below the body. */
  promptHeight: number;
}

const HEADER = 2;
const FOOTER = 1;

export function layoutOf(state: State): Layout {
  const bodyTop = HEADER + banners(state);
  const promptHeight = Math.min(promptRows(state), Math.max(0, state.size.rows - bodyTop - FOOTER - 2));
  return {
    bodyTop,
    promptHeight,
    bodyHeight: Math.max(1, state.size.rows - bodyTop - promptHeight - FOOTER),
  };
}

/** How many snitches, alerts or deliveries fit below the column titles. */
export function listHeight(state: State): number {
  return Math.max(1, layoutOf(state).bodyHeight - 1);
}

/** How many lines stand between the totals and the body. */
function banners(state: State): number {
  return (state.nobody === null ? 0 : 1) + (hasBanner(state) ? 1 : 0);
}

function hasBanner({ link, collection: { arrangement } }: State): boolean {
  return (
    link.state === 'lost' || link.state === 'refused' || link.error !== null || arrangement.filter !== ''
  );
}

function promptRows({ overlay, size }: State): number {
  switch (overlay?.kind) {
    case 'pause':
    case 'silence':
      return 1 + choicesFor(overlay.kind).length + pauseHint(overlay, size.columns).length;
    case 'paste':
      return 2 + SNIPPET_KINDS.length;
    case 'tag':
    case 'acknowledge':
    case 'delete':
      return 2;
    case 'filter':
      return 1;
    default:
      return 0;
  }
}
