/** What nodes tell each other about committed changes: texts for NOTIFY, and how they are read. Pure. */
import type { Change } from '../../change.ts';

/** PostgreSQL accepts no more bytes in one notification. */
export const MOST_BYTES = 7_999;

/** More texts than this at once are not worth their cost: the others then read everything again. */
const MOST_TEXTS = 64;

/** What a node hears: changes, or that it may have missed some. */
export type Heard = { changes: readonly Change[] } | 'reset';

const RESET = null;

/**
 * The changes as texts, each a JSON list that begins with the id of the sender. Duplicates are sent once.
 *
 * @param isIncomplete whether changes before these were never sent
 */
export function textsOf(sender: string, changes: readonly Change[], isIncomplete: boolean): string[] {
  const items = [...new Set(changes.map((change) => JSON.stringify(change)))];
  const head = `[${JSON.stringify(sender)}`;
  const room = MOST_BYTES - Buffer.byteLength(head) - 1;
  const reset = `${head},${JSON.stringify(RESET)}]`;
  const tooMuch = items.some((item) => Buffer.byteLength(item) + 1 > room);
  if (isIncomplete || tooMuch) return [reset];
  const texts: string[] = [];
  let text = '';
  let left = room;
  for (const item of items) {
    const size = Buffer.byteLength(item) + 1;
    if (size > left) {
      texts.push(`${head}${text}]`);
      [text, left] = ['', room];
    }
    text += `,${item}`;
    left -= size;
  }
  if (text !== '') texts.push(`${head}${text}]`);
  return texts.length > MOST_TEXTS ? [reset] : texts;
}

/**
 * What another node said, or null for a message of this node. A text that cannot be read means that something unknown
 * has changed, and so does a kind of change that only a newer node knows.
 */
export function heardIn(text: string, self: string): Heard | null {
  // Most of what a busy node hears is its own.
  if (text.startsWith(`[${JSON.stringify(self)}`)) return null;
  let items: unknown;
  try {
    items = JSON.parse(text);
  } catch {
    return 'reset';
  }
  if (!Array.isArray(items)) return 'reset';
  const [sender, ...changes] = items as unknown[];
  if (sender === self) return null;
  return changes.every(isChange) ? { changes } : 'reset';
}

const isText = (value: unknown) => typeof value === 'string';
const isTextOrNull = (value: unknown) => value === null || isText(value);

/** The fields of each kind of change, besides its kind. */
const FIELDS: { [Kind in Change['kind']]: Record<string, (value: unknown) => boolean> } = {
  deliveries: { channels: (value) => value === undefined || (Array.isArray(value) && value.every(isText)) },
  alert: {
    alertId: isText,
    type: isText,
    token: isText,
    name: isText,
    deliveries: (value) => Number.isInteger(value),
  },
  snitch: { caseId: isText, token: isText },
  silences: { caseId: isText },
  shown: { caseId: isText },
  statusPage: { caseId: isText },
  access: { caseId: isText, keyId: isTextOrNull },
  reset: {},
};

function isChange(value: unknown): value is Change {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  const { kind } = value;
  if (typeof kind !== 'string' || !Object.hasOwn(FIELDS, kind)) return false;
  const fields = FIELDS[kind as Change['kind']];
  return Object.entries(fields).every(([name, isGood]) => isGood(Reflect.get(value, name)));
}
