/** The part of the store for who did what; instants are milliseconds since the epoch. */
import type { Action, Entry } from '../core/activity/activity.ts';
import type { AcknowledgementActs } from './acknowledgements.ts';
import type { ApiKeyActs } from './api-keys.ts';
import type { BadgeActs } from './badges.ts';
import type { CaseActs } from './cases.ts';
import type { ChannelActs } from './channels.ts';
import type { DeliveryActs } from './deliveries.ts';
import type { OwnershipActs } from './ownership.ts';
import type { Page } from './page.ts';
import type { ProvisioningActs } from './provisioning.ts';
import type { RouteActs } from './routes.ts';
import type { ServerActs } from './server-notes.ts';
import type { SilenceActs } from './silences.ts';
import type { SnitchActs } from './snitches.ts';
import type { StatusPageActs } from './status-pages.ts';
import type { WebhookActs } from './webhooks.ts';

/** Which entries to list: those about one thing, such as a snitch, and those of one action; null means all. */
export interface ActivityFilter {
  subjectId: string | null;
  action: Action | null;
}

export interface ActivityStore {
  /** Newest first; of a case, or of the server if `caseId` is null. */
  listActivity(caseId: string | null, filter: ActivityFilter & Page): Promise<Entry[]>;
}

/**
 * Everything that people change. Each method records who did it, in the transaction of the change itself. A call that
 * changes nothing records nothing.
 */
export type Acts = CaseActs &
  ApiKeyActs &
  SnitchActs &
  AcknowledgementActs &
  SilenceActs &
  BadgeActs &
  StatusPageActs &
  OwnershipActs &
  ProvisioningActs &
  DeliveryActs &
  WebhookActs &
  ChannelActs &
  RouteActs &
  ServerActs;
