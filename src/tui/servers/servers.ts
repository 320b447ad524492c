/** The servers that the dashboard can show, and how they are. */

export type Health =
  | { state: 'asking' }
  | { state: 'ok'; failed: number; errored: number; all: number }
  /** It cannot be asked, or does not answer; `error` says why. */
  | { state: 'away'; error: string };

export interface ServerSeen {
  name: string;
  url: string;
  health: Health;
}

export function withHealth(
  servers: readonly ServerSeen[],
  name: string,
  health: Health,
): readonly ServerSeen[] {
  return servers.map((one) => (one.name === name ? { ...one, health } : one));
}

/** What is wrong comes first. */
export function healthInWords(health: Health): string {
  if (health.state === 'asking') return 'asking';
  if (health.state === 'away') return health.error;
  const { failed, errored, all } = health;
  const wrong = [failed > 0 ? `${failed} failed` : '', errored > 0 ? `${errored} errored` : ''];
  const words = wrong.filter((word) => word !== '').join(', ');
  return words === '' ? `all well, ${all} in all` : `${words}, ${all} in all`;
}
