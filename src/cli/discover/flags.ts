/** The options of `snitch discover`. */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { isTimeZone } from '../../text/time-zone.ts';
import type { ClientFlags } from '../command/command.ts';
import { UsageError } from '../failure/failure.ts';
import { secondsOf } from '../snitches/due-flags.ts';
import type { DiscoverOptions } from './discovery.ts';

export interface DiscoverFlags extends ClientFlags {
  root: string;
  host?: string;
  program?: string;
  tag?: string[];
  timezone?: string;
  grace?: string;
  check?: boolean;
  apply?: boolean;
  update?: boolean;
  yes?: boolean;
  writeCrontabs?: boolean;
}

/** @throws UsageError for options that do not go together, or have values that are not understood */
export function optionsIn(flags: DiscoverFlags, now: number): DiscoverOptions {
  const { apply = false, check = false, timezone = null, grace } = flags;
  if (check && apply) throw new UsageError('--check changes nothing, and does not go with --apply');
  if (flags.writeCrontabs && !apply) throw new UsageError('--write-crontabs goes with --apply');
  if (flags.update && !apply) throw new UsageError('--update goes with --apply');
  if (timezone !== null && !isTimeZone(timezone)) {
    throw new UsageError(
      `--timezone: "${timezone}" is not a time zone: use an IANA name such as Europe/Berlin`,
    );
  }
  return {
    root: resolve(flags.root),
    host: flags.host ?? hostname().split('.', 1)[0] ?? 'host',
    timezone,
    grace: grace === undefined ? null : secondsOf(grace, '--grace'),
    now,
  };
}

/** Makes a path absolute, because jobs do not start in the present directory. */
export function programIn({ program }: DiscoverFlags): string | null {
  if (program === undefined) return null;
  if (program === '' || /['"\\\p{Cc}]/u.test(program)) {
    throw new UsageError('--program: must be a name or a path, without quotation marks and backslashes');
  }
  return program.includes('/') ? resolve(program) : program;
}
