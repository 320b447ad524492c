/** Makes a database seem some milliseconds away: a separate process passes everything on later. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Workplace } from '../workplace.ts';

/** @returns the port of 127.0.0.1 from which `port` is `ms` milliseconds away, each way */
export async function startDelay(workplace: Workplace, port: number, ms: number): Promise<number> {
  const program = join(import.meta.dirname, 'delay-process.ts');
  const child = spawn(process.execPath, [program, String(port), String(ms)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  workplace.atEnd(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return Number(String(line));
}
