/** The filter of the table: terms that must all match, with `!` for not. */
import type { Entry } from './entry.ts';

export type Matcher = (entry: Entry) => boolean;

/**
 * Understands `backup` (the name, a tag or the notes contain it), `tag:db` (has this tag), `status:failed` (the
 * beginning is enough), `!` before any of them for the opposite, and quotes around spaces: `tag:"data base"`. Case
 * never matters.
 */
export function parseFilter(text: string): Matcher | null {
  const terms = (text.match(/(?:"[^"]*"?|[^\s"])+/g) ?? []).map(parseTerm).filter((term) => term !== null);
  if (terms.length === 0) return null;
  return (entry) => terms.every((term) => term(entry));
}

function parseTerm(word: string): Matcher | null {
  const negated = word.startsWith('!');
  const term = positiveTerm(
    word
      .slice(negated ? 1 : 0)
      .replaceAll('"', '')
      .toLowerCase(),
  );
  if (!term || !negated) return term;
  return (entry) => !term(entry);
}

function positiveTerm(word: string): Matcher | null {
  const [, field, value = ''] = /^(tag|status):(.*)$/.exec(word) ?? [];
  if (field === 'tag') return value === '' ? null : ({ tagKeys }) => tagKeys.includes(value);
  if (field === 'status') return value === '' ? null : ({ snitch }) => isStatus(snitch.status, value);
  return word === '' ? null : (entry) => contains(entry, word);
}

/** Notes are searched last and without preparation: most snitches have none, and few filters get that far. */
function contains({ nameKey, tagKeys, snitch }: Entry, word: string): boolean {
  return (
    nameKey.includes(word) ||
    tagKeys.some((tag) => tag.includes(word)) ||
    (snitch.notes !== '' && snitch.notes.toLowerCase().includes(word))
  );
}

/** What alerts call `missing` is `failed` in the API, and people type either. */
function isStatus(status: string, typed: string): boolean {
  return status.startsWith(typed) || (status === 'failed' && 'missing'.startsWith(typed));
}
