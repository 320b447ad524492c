/** The journal of systemd: every line begins with its priority, so `journalctl -p err` finds it (sd-daemon(3)). */
import { fstatSync } from 'node:fs';

const PRIORITIES = { trace: 7, debug: 7, info: 6, warn: 4, error: 3, fatal: 2 } as const;

export type Level = keyof typeof PRIORITIES;

/**
 * Whether what is written to this descriptor goes to the journal. The variable alone proves nothing, because it is
 * inherited, and the output may have been redirected since.
 */
export function isJournal(fd: number, { JOURNAL_STREAM: stream }: NodeJS.ProcessEnv): boolean {
  if (!stream) return false;
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}

/** Puts the priority before each line, because every line is a message of its own in the journal. */
export function withPriority(text: string, level: Level): string {
  return text.replace(/(?<=^|\n)(?=[^\n])/g, `<${PRIORITIES[level]}>`);
}
