/** Settings that may change while the daemon runs. They are looked up each time they are needed. */
import type { IncomingMessage } from 'node:http';
import type { Config } from '../config/config.ts';
import type { Addresses } from '../http/endpoint/route-context.ts';
import { createProxyTest, createSourceReader } from '../http/source.ts';
import { publicUrlOf } from './addresses.ts';

export interface ReloadedSettings {
  smtp: Config['smtp'];
  metricsArePublic: boolean;
  /** What channels may run, by name. */
  commands: Config['commands'];
  /** Whether webhooks and channels may be on this host or in its network. */
  allowPrivate: boolean;
  /** How many check-ins of each snitch the store keeps. */
  checkInsKept: number;
  /** The address that a request came from, even through trusted proxies. */
  sourceOf: (request: IncomingMessage) => string | null;
  /** Whether a trusted proxy sent a request. */
  isProxied: (request: IncomingMessage) => boolean;
}

export interface InForce extends ReloadedSettings {
  /** Empty until the daemon listens and knows its addresses. */
  addresses: Addresses;
  /** What links in messages begin with; null if it is not configured where people reach this server. */
  publicUrl: string | null;
  /** What the links in messages are signed with; null until the daemon has started. */
  linkKey: string | null;
}

/** The settings that are in force before the daemon listens. */
export function inForceAtFirst(config: Config): InForce {
  return {
    ...reloadedSettings(config),
    addresses: { baseUrl: '', checkInBase: '' },
    publicUrl: publicUrlOf(config),
    linkKey: null,
  };
}

export function reloadedSettings(config: Config): ReloadedSettings {
  return {
    smtp: config.smtp,
    metricsArePublic: config.metrics.public,
    commands: config.commands,
    allowPrivate: config.webhooks.allowPrivate,
    checkInsKept: config.retention.checkIns,
    sourceOf: createSourceReader(config.trustedProxies),
    isProxied: createProxyTest(config.trustedProxies),
  };
}
