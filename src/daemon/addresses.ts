/** The addresses that the daemon gives to others: of the API, and of check-ins. */
import type { Config } from '../config/config.ts';
import type { Addresses } from '../http/endpoint/route-context.ts';

/** @param derived from where the daemon listens, for a configuration that names no `base_url` */
export function addressesOf(config: Config, derived: string): Addresses {
  const baseUrl = withoutSlash(config.baseUrl ?? derived);
  return { baseUrl, checkInBase: withoutSlash(config.checkInBase ?? `${baseUrl}/c`) };
}

/** The path of check-in addresses, which is known before the daemon listens; without a slash at the end. */
export function checkInPath({ baseUrl, checkInBase }: Config): string {
  const base = checkInBase ?? `${baseUrl ?? 'http://localhost'}/c`;
  return withoutSlash(new URL(base).pathname);
}

function withoutSlash(text: string): string {
  return text.replace(/\/+$/, '');
}
