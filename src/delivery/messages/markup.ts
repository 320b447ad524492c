/** How text that is only to be shown is kept from being read as markup or as mentions, for each service. */

/** A space without width: nobody sees it, and what has it inside is neither a mention nor markup. */
const GAP = '\u200b';

/** A backslash before each of `characters`. */
function backslashed(characters: string): (character: string) => string {
  const marks = new Set(characters);
  return (character) => (marks.has(character) ? `\\${character}` : character);
}

/** Mentions such as `@channel` ring although the sign is escaped. */
function withoutMentions(spell: (character: string) => string): (character: string) => string {
  return (character) => (character === '@' ? `@${GAP}` : spell(character));
}

/** Slack knows escapes for three characters only, and none for its formatting. */
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

/** Mattermost turns `<!channel>` and `<url|text>` into its own, and shows entities as they are. */
export function mattermostText(character: string): string {
  if (character === '<') return `<${GAP}`;
  return character === '@' ? `@${GAP}` : mattermostMarks(character);
}

export const discordText = backslashed('\\*_~`|>#-[]()<@:');

export const teamsText = backslashed('\\*_[]()#`~>-');

export const rocketchatText = withoutMentions(backslashed('\\*_~`[]()#>!'));

/** Google Chat knows no escapes, and reads `<users/all>` as everybody. */
export function googleChatText(character: string): string {
  return '<*_~`'.includes(character) ? `${character}${GAP}` : character;
}

/** For what stands in a fence of backticks, where mentions still ring. */
export function mentionless(character: string): string {
  return character === '@' ? `@${GAP}` : character;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export function htmlText(character: string): string {
  return ENTITIES[character] ?? character;
}

/** The name of a member rings in Telegram, also within HTML. */
export const telegramText = withoutMentions(htmlText);
