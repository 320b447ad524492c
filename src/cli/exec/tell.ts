import { printable } from '../../text/printable.ts';

/**
 * A message of `snitch exec` on stderr. It is written without Node's stream, whose errors would end the process: the
 * exit code belongs to the job, even if nobody reads stderr.
 */
export function tell(text: string): void {
  const lines = text.split('\n').map((line) => `snitch: ${printable(line)}\n`);
  try {
    process.getBuiltinModule('node:fs').writeSync(2, lines.join(''));
  } catch {
    // There is nobody to tell.
  }
}
