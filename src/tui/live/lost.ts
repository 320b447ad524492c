/** Finds what a server that is too old has left out of a snitch. */
import type { SnitchInput } from '../../api/client.ts';
import type { WireSnitch } from '../../api/wire.ts';

/** A server ignores what it does not know, and the user must not believe that it took effect. Empty if nothing was. */
export function lostOf(snitch: WireSnitch, wanted: SnitchInput): string {
  const lost = [
    wanted.schedule && !snitch.schedule ? 'schedule' : '',
    wanted.timezone && !snitch.timezone ? 'time zone' : '',
    typeof wanted.grace === 'number' && snitch.grace !== wanted.grace ? 'grace' : '',
    wanted.max_runtime && snitch.max_runtime !== wanted.max_runtime ? 'max runtime' : '',
    wanted.min_runtime && snitch.min_runtime !== wanted.min_runtime ? 'min runtime' : '',
    (wanted.failures_before_alert ?? 1) > 1 && snitch.failures_before_alert !== wanted.failures_before_alert
      ? 'failures before an alert'
      : '',
    wanted.expect && !snitch.expect ? 'expectations' : '',
    wanted.needs?.length && !snitch.needs ? 'needs' : '',
  ];
  return lost.filter((one) => one !== '').join(', ');
}
