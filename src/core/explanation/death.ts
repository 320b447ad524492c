/** Why a delivery is dead. The errors that this program words itself are defined here, and nowhere else. */

export const EMAIL_OFF = 'email is off: set smtp.url and smtp.from';
export const CHANNEL_DELETED = 'the channel was deleted';
export const CHANNEL_WITHOUT_ADDRESS = 'the channel has no http or https address';
export const WEBHOOK_DELETED = 'the webhook was deleted';
export const WEBHOOK_WITHOUT_ADDRESS = 'the webhook has no http or https URL';
export const ALARM_UNHEARD = 'its alarm did not arrive there';
const UNREADABLE = 'the alert cannot be read: ';

/** How the error of a service begins that passes messages on, and could pass this one on to some of its targets only. */
const PARTLY_TAKEN = 'only some of its targets took it: ';

const NEVER_SENT: ReadonlySet<string> = new Set([
  EMAIL_OFF,
  CHANNEL_DELETED,
  CHANNEL_WITHOUT_ADDRESS,
  WEBHOOK_DELETED,
  WEBHOOK_WITHOUT_ADDRESS,
  ALARM_UNHEARD,
]);

export function unreadable(error: string): string {
  return `${UNREADABLE}${error}`;
}

/** @param error the answer */
export function partlyTaken(error: string): string {
  return `${PARTLY_TAKEN}${error}`;
}

/** Whether the alert reached somebody although its delivery is dead. */
export function reachedSome(error: string | null): boolean {
  return error?.startsWith(PARTLY_TAKEN) ?? false;
}

/** The error of a delivery whose last attempt failed like those before it. */
export function lastOfAll(error: string, attempt: number): string {
  return `${error} (attempt ${attempt} was the last)`;
}

/**
 * - `refused`: the target answered, and would give the same answer again.
 * - `given up`: every attempt failed.
 * - `never sent`: there was no way to send it, or nobody to send it to.
 */
export type Death = 'refused' | 'given up' | 'never sent';

/** @param error the last error of a dead delivery */
export function deathOf(error: string | null): Death {
  if (error === null || / \(attempt \d+ was the last\)$/.test(error)) return 'given up';
  return NEVER_SENT.has(error) || error.startsWith(UNREADABLE) ? 'never sent' : 'refused';
}
