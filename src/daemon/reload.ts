/** Applies those changes of the configuration that do not need a restart. */
import type { Config } from '../config/config.ts';
import { warnOfConfig, warnOfEmail } from './config-warnings.ts';
import { reloadedSettings } from './in-force.ts';
import type { Foundation, Parts } from './parts.ts';

/** @throws Error that names a setting that cannot be used; then nothing has changed */
export function reload(parts: Parts, { config, inForce, logger }: Foundation, changed: Config): void {
  // What may throw comes first, so a bad setting changes nothing.
  const settings = reloadedSettings(changed);
  parts.deliverer.reconfigure({ smtp: changed.smtp, webhooks: changed.webhooks, commands: changed.commands });
  Object.assign(inForce, settings);
  logger.level = changed.log.level;
  parts.limiter.configure(changed.rateLimit);
  parts.retention.configure(changed.retention);
  parts.signsOfLife.give(changed.watchdog);
  for (const setting of needRestart(config, changed)) {
    logger.warn({ setting }, 'this setting changes only with a restart');
  }
  warnOfConfig(changed, logger);
  warnOfEmail(changed, logger);
  logger.info('the configuration was read again');
}

/** What a reload does not change, by the name of the setting. */
export const FIXED_SETTINGS: Readonly<Record<string, (config: Config) => unknown>> = {
  listen: ({ listen }) => listen,
  base_url: ({ baseUrl }) => baseUrl,
  check_in_base: ({ checkInBase }) => checkInBase,
  data_dir: ({ dataDir }) => dataDir,
  'store.url': ({ store }) => store?.shown,
  'store.password_file': ({ store }) => store && [store.passwordFile, store.address.password],
  admin_key_from: ({ adminKey }) => adminKey,
  'log.format': ({ log }) => log.format,
};

function needRestart(before: Config, after: Config): string[] {
  return Object.entries(FIXED_SETTINGS)
    .filter(([, valueIn]) => JSON.stringify(valueIn(before)) !== JSON.stringify(valueIn(after)))
    .map(([name]) => name);
}
