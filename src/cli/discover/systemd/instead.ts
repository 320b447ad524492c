/** Lines of crontabs that do nothing where systemd runs: packages have them beside a timer, for hosts without it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** How programs ask whether systemd runs (`man 3 sd_booted`). */
const RUNNING = 'run/systemd/system';

const TEST = String.raw`(?:\btest|\[)\s+(?:-\w\s+\S+\s+-a\s+)?`;
const DIRECTORY = String.raw`-[de]\s+\/${RUNNING.replaceAll('/', '\\/')}\/?(?:\s+\])?`;

/** `test -x /usr/bin/certbot -a \! -d /run/systemd/system && …` */
const ONLY_WITHOUT = new RegExp(String.raw`^(?:[^;|]*&&\s*)?${TEST}\\?!\s+${DIRECTORY}\s*&&[^;|]*$`);
/** `test -e /run/systemd/system || …` */
const UNLESS = new RegExp(String.raw`^\s*${TEST}${DIRECTORY}\s*\|\|[^;&]*$`);
/** `if [ ! -d /run/systemd/system ]; then …; fi` */
const IF_WITHOUT = new RegExp(
  String.raw`^(?:[^;|]*&&\s*)?if\s+${TEST}\\?!\s+${DIRECTORY}\s*;\s*then\s(?!.*\bel(?:se|if)\b).*;\s*fi\s*$`,
);

/** Whether a line of a crontab does nothing because systemd runs, so that a timer does its work. */
export function isLeftToSystemd(root: string, command: string): boolean {
  const bare = command.replace(/'[^']*'|"[^"]*"/g, '_');
  return (
    [ONLY_WITHOUT, UNLESS, IF_WITHOUT].some((form) => form.test(bare)) && existsSync(join(root, RUNNING))
  );
}
