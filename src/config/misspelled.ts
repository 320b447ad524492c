/**
 * Finds variables that were probably meant to be settings: a typo in the file is refused, but in a variable it would do
 * nothing.
 */
import { editDistance } from '../text/similar.ts';
import { environmentVariable, SETTING_NAMES } from './settings.ts';

const PREFIX = environmentVariable('');

/** Variables that commands read, and the daemon's `--config`. */
const OF_COMMANDS = [
  ...['SNITCH_URL', 'SNITCH_SERVER', 'SNITCH_CONFIG', 'SNITCH_SPOOL_DIR', 'SNITCH_CHECK_IN_BASE'],
  ...['SNITCH_API_KEY', 'SNITCH_API_KEY_FILE', 'SNITCH_ADMIN_KEY', 'SNITCH_ADMIN_KEY_FILE'],
  ...['SNITCH_TOKEN', 'SNITCH_TOKEN_FILE', 'SNITCH_FROM_KEY', 'SNITCH_FROM_KEY_FILE'],
];

/**
 * Only near misses are reported: Kubernetes sets variables such as `SNITCH_SERVICE_HOST` for a service of this name.
 *
 * @returns a sentence for each, never containing its value, which may be a secret
 */
export function misspelledVariables(env: NodeJS.ProcessEnv): string[] {
  const settings = SETTING_NAMES.map(environmentVariable);
  const known = new Set([...settings, ...OF_COMMANDS]);
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && env[name] && !known.has(name))
    .sort()
    .flatMap((name) => {
      const meant = settings.find((setting) => setting === `${name}_FILE`) ?? nearest(name, settings);
      if (meant === null) return [];
      return [`the environment variable ${name} is not a setting and has no effect: did you mean ${meant}?`];
    });
}

function nearest(name: string, settings: readonly string[]): string | null {
  const short = name.slice(PREFIX.length);
  const most = short.length < 6 ? 1 : 2;
  const near = settings.filter((setting) => Math.abs(setting.length - name.length) <= most);
  return near.find((setting) => editDistance(short, setting.slice(PREFIX.length)) <= most) ?? null;
}
