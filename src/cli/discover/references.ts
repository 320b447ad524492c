/** Recognises the commands that check in already, and the snitches that they name. */

const WATCHED =
  /\bsnitch[\w.-]*['"]?\s+(?:exec|check-in)\b|\s(?:exec|check-in)\s+[a-z2-7]{26}\b|https?:\/\/[^\s'"]+\/c\/[A-Za-z0-9_-]{6,64}\b/;

export function checksIn(command: string): boolean {
  return WATCHED.test(command);
}

const ADDRESS = /https?:\/\/[^\s'"]+\/(?:c|ping)\/([A-Za-z0-9_-]{6,64})\b/g;
const CALL = /\b(?:exec|check-in)\s+(.*?)(?:\s--(?:\s|$)|$)/g;

/** What may be the token or the name of the snitch. Empty where it stands elsewhere, as in a file. */
export function referencesIn(command: string): string[] {
  const tokens = [...command.matchAll(ADDRESS)].map(([, token = '']) => token);
  const words = [...command.matchAll(CALL)].flatMap(([, part = '']) => wordsOf(part));
  return [...new Set([...tokens, ...words])];
}

/** Words of a shell, without options and without what is no name. */
function wordsOf(text: string): string[] {
  const words = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
  return words.filter((word) => word !== '' && !/^-|:\/\/|[$`;|&<>]/.test(word));
}
