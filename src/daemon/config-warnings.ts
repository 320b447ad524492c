/** What works but is probably not what was meant, at the start and at each reload. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

/** An empty configuration file is valid, and so is a section that was left out by mistake. */
export function warnOfEmail({ smtp }: Pick<Config, 'smtp'>, logger: Pick<Logger, 'warn'>): void {
  if (!smtp) logger.warn('email is off: set smtp.url and smtp.from to send it');
}

export function warnOfConfig({ warnings }: Pick<Config, 'warnings'>, logger: Pick<Logger, 'warn'>): void {
  for (const warning of warnings) logger.warn(warning);
}
