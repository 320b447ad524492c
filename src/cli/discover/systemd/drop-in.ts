/** Makes a service of systemd check in after each run, by a drop-in file. */
import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OUTCOME } from '../../../core/snippets/systemd.ts';
import { syncNow } from '../../../system/private-file.ts';
import { Failure } from '../../failure/failure.ts';
import { replaceFile } from '../host/replace-file.ts';

const MARK = '# Written by `snitch discover`.';

export function dropInPath(service: string): string {
  return `/etc/systemd/system/${service}.d/snitch.conf`;
}

/**
 * The check-in runs however the service ended, and its own result does not affect the service. `$SERVICE_RESULT` is
 * systemd's own verdict, in which every exit status counts as a success that the unit declares as one.
 *
 * @param checkIn the command that checks in, without the outcome
 */
export function dropInText(checkIn: string): string {
  const script = [OUTCOME, `exec ${checkIn} -s "$s" -m "$SERVICE_RESULT $EXIT_CODE $EXIT_STATUS"`].join('; ');
  // In a unit, dollar and percent signs have to be doubled to stand for themselves.
  const escaped = script.replaceAll('$', '$$$$').replaceAll('%', '%%');
  return `${MARK} After a change: systemctl daemon-reload\n[Service]\nExecStopPost=-/bin/sh -c '${escaped}'\n`;
}

/** @throws Failure if there is a file of that name that we did not write */
export function writeDropIn(root: string, service: string, text: string): void {
  const path = join(root, dropInPath(service));
  const old = lstatSync(path, { throwIfNoEntry: false });
  if (old && (!old.isFile() || !readFileSync(path, 'utf8').startsWith(MARK))) {
    throw new Failure(`${dropInPath(service)} exists already, and was not written by this command`);
  }
  const made = mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  if (made !== undefined) syncNow(dirname(made));
  replaceFile(path, text);
}
