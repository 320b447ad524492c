/** The part of the store for webhooks; instants are milliseconds since the epoch. */
import type { Webhook } from '../core/webhook.ts';

export interface WebhookOptions {
  /** Whether it also gets notices about the service itself; false if absent. */
  notices?: boolean;
  /** How many webhooks and channels together the case can have; no limit if absent. */
  most?: number;
}

export interface WebhookStore {
  getWebhook(caseId: string, id: string): Promise<Webhook | null>;
  listWebhooks(caseId: string): Promise<Webhook[]>;
}

/** What people do with webhooks. */
export interface WebhookActs {
  /** @throws Invalid if the case already has as many as `options.most` */
  createWebhook(caseId: string, url: string, now: number, options?: WebhookOptions): Promise<Webhook>;
  /** False if the case has no such webhook. */
  deleteWebhook(caseId: string, id: string): Promise<boolean>;
  /** Gives a webhook a new secret; until `previousUntil`, requests are signed with the previous one as well. */
  rotateWebhookSecret(caseId: string, id: string, previousUntil: number): Promise<Webhook | null>;
}
