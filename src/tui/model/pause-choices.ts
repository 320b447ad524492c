/** The choices for the end of a pause, and of a silence. */
import { wrapWords } from '../../text/width.ts';

export interface PauseChoice {
  label: string;
  /** A text for `understandUntil`; null if the user has to type one. */
  until: string | null;
}

const PAUSE_CHOICES: readonly PauseChoice[] = [
  { label: 'its next healthy check-in', until: 'healthy' },
  { label: 'somebody unpauses it', until: 'unpaused' },
  { label: '1 hour from now', until: '1h' },
  { label: '8 hours from now', until: '8h' },
  { label: '1 day from now', until: '1d' },
  { label: '1 week from now', until: '7d' },
  { label: 'another time:', until: null },
];

/** Every silence has an end. */
const SILENCE_CHOICES: readonly PauseChoice[] = [
  { label: '30 minutes from now', until: '30m' },
  { label: '1 hour from now', until: '1h' },
  { label: '2 hours from now', until: '2h' },
  { label: '8 hours from now', until: '8h' },
  { label: '1 day from now', until: '1d' },
  { label: 'another time:', until: null },
];

export function choicesFor(kind: 'pause' | 'silence'): readonly PauseChoice[] {
  return kind === 'pause' ? PAUSE_CHOICES : SILENCE_CHOICES;
}

/** The lines below the choices: what the keys do, or what is wrong with the text. */
export function pauseHint(
  { kind, problem }: { kind: 'pause' | 'silence'; problem: string | null },
  columns: number,
  unicode = true,
): string[] {
  if (problem !== null) return wrapWords(problem, columns);
  return [`${unicode ? '↑↓' : 'arrows'} choose  enter ${kind}  esc cancel  or type 2h, 14:30, tomorrow`];
}
