/** The addresses of the API and of check-ins that the daemon gives to others. */
import type { Config } from '../config/config.ts';
import type { Addresses } from '../http/endpoint/route-context.ts';

/** @param derived the address that the daemon listens on, for a configuration without `base_url` */
export function addressesOf(config: Config, derived: string): Addresses {
  const baseUrl = withoutSlash(config.baseUrl ?? derived);
  return { baseUrl, checkInBase: withoutSlash(config.checkInBase ?? `${baseUrl}/c`) };
}

/** Where people reach this server, if configured; what the daemon itself knows may be right only on its own host. */
export function publicUrlOf({ baseUrl }: Config): string | null {
  return baseUrl === null ? null : withoutSlash(baseUrl);
}

/** The path of check-in addresses, without a slash at the end. It is known before the daemon listens. */
export function checkInPath({ baseUrl, checkInBase }: Config): string {
  const base = checkInBase ?? `${baseUrl ?? 'http://localhost'}/c`;
  return withoutSlash(new URL(base).pathname);
}

function withoutSlash(text: string): string {
  return text.replace(/\/+$/, '');
}
