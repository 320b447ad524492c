/** One line on a terminal that says how far a move is; nothing if nobody watches, as in cron. */
import type { Progress } from '../../store/move/move.ts';

interface Screen {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** The least time between two updates of the line for the same table, in milliseconds. */
const EVERY = 100;

const WORDS = {
  checking: 'checking the source',
  preparing: 'preparing the target',
  finishing: 'making it last',
} as const;

/** @param screen null for nobody */
export function progressOn(screen: Screen | null, clock: () => number = () => performance.now()) {
  const isSeen = screen?.isTTY === true;
  let last = { what: '', at: Number.NEGATIVE_INFINITY };
  return {
    show(progress: Progress): void {
      if (!isSeen) return;
      const what = 'table' in progress ? `${progress.doing} ${progress.table}` : progress.doing;
      const now = clock();
      if (what === last.what && now - last.at < EVERY) return;
      last = { what, at: now };
      screen.write(`\r${lineOf(progress).slice(0, (screen.columns || 80) - 1)}\u001b[K`);
    },
    clear(): void {
      if (isSeen && last.what !== '') screen.write('\r\u001b[K');
    },
  };
}

export function lineOf(progress: Progress): string {
  if (!('table' in progress)) return WORDS[progress.doing];
  const { doing, table, done, of } = progress;
  return `${doing} ${table}: ${done.toLocaleString('en')} of ${of.toLocaleString('en')}`;
}
