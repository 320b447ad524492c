/** Recognises the commands that check in already, and the snitches that they name. */

const WATCHED =
  /\bsnitch[\w.-]*['"]?(?:\s+--server[=\s]\s*\S+)?\s+(?:exec|check-in)\b|\s(?:exec|check-in)\s+[a-z2-7]{26}\b|https?:\/\/[^\s'"]+\/c\/[A-Za-z0-9_-]{6,64}\b/;

export function checksIn(command: string): boolean {
  return WATCHED.test(command);
}

const ADDRESS = /https?:\/\/[^\s'"]+\/(?:c|ping)\/([A-Za-z0-9_-]{6,64})\b/g;
const CALL =
  /(?:\bsnitch[\w.-]*['"]?\s+(?:exec|check-in)\b|\s(?:exec|check-in)(?=\s+[a-z2-7]{26}\b))(.*?)(?:\s--(?=\s|$)|$)/g;

/**
 * Options of these commands that take a value, and those that take none. `--token-file` names the snitch instead, and
 * with `--server` it may be on another server than the one that is asked.
 */
const WITH_VALUE = new Set(
  [
    '--timeout --kill-after --output --tail --url --api-key-file --message -m --status -s --value -v --value-timeout',
    '--interval --cron --calendar --every --timezone --grace --max-runtime --min-runtime --failures-before-alert',
    '--expect --tag --alert-type --alert-email --public-name --notes --needs',
  ].flatMap((line) => line.split(' ')),
);
const ALONE = new Set(['--quiet', '-q', '--create']);

/** What may be the token or the name of the snitch. Empty if that is elsewhere, such as in a file or a variable. */
export function referencesIn(command: string): string[] {
  const tokens = [...command.matchAll(ADDRESS)].map(([, token = '']) => token);
  if (tokens.length > 0) return [...new Set(tokens)];
  const named = [...command.matchAll(CALL)].map(([, part = '']) => argumentIn(part));
  return [...new Set(named.filter((one) => one !== null))];
}

/** The first argument that belongs to no option; null if an option names the snitch, or an option is not known. */
function argumentIn(text: string): string | null {
  const words = [...text.matchAll(/(?:[^\s'"]|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''),
  );
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const [option = ''] = word.split('=', 1);
    if (!word.startsWith('-')) return /[$`;|&<>]|^$/.test(word) ? null : word;
    if (WITH_VALUE.has(option)) index += word === option ? 1 : 0;
    else if (!ALONE.has(option)) return null;
  }
  return null;
}
