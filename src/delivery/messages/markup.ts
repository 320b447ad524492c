/** Keeps text that is only meant to be shown from being read as markup or mentions, for each service. */

/** A zero-width space: invisible, and text with one inside is neither a mention nor markup. */
const GAP = '\u200b';

/** A backslash before each of `characters`. */
function backslashed(characters: string): (character: string) => string {
  const marks = new Set(characters);
  return (character) => (marks.has(character) ? `\\${character}` : character);
}

/** Mentions such as `@channel` notify people even if the sign is escaped. */
function withoutMentions(spell: (character: string) => string): (character: string) => string {
  return (character) => (character === '@' ? `@${GAP}` : spell(character));
}

/** Slack has escapes for three characters only, and none for its formatting. */
export function slackText(character: string): string {
  switch (character) {
    case '&':
      return '&amp;';
    case '<':
      return '&lt;';
    case '>':
      return '&gt;';
    case '*':
    case '~':
    case '`':
      return `${GAP}${character}${GAP}`;
    case '_':
      return `${character}${GAP}`;
    default:
      return character;
  }
}

const mattermostMarks = backslashed('\\`*_~[]()#>|!-');

/** Mattermost converts `<!channel>` and `<url|text>` to its own markup, and shows entities as they are. */
export function mattermostText(character: string): string {
  if (character === '<') return `<${GAP}`;
  return character === '@' ? `@${GAP}` : mattermostMarks(character);
}

export const discordText = backslashed('\\*_~`|>#-[]()<@:');

export const teamsText = backslashed('\\*_[]()#`~>-');

export const rocketchatText = withoutMentions(backslashed('\\*_~`[]()#>!'));

/** Google Chat has no escapes, and reads `<users/all>` as everybody. */
export function googleChatText(character: string): string {
  return '<*_~`'.includes(character) ? `${character}${GAP}` : character;
}

/** For text in a fence of backticks, where mentions still notify people. */
export function mentionless(character: string): string {
  return character === '@' ? `@${GAP}` : character;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function htmlText(character: string): string {
  return ENTITIES[character] ?? character;
}

/** Telegram notifies members who are mentioned, even within HTML. */
export const telegramText = withoutMentions(htmlText);
