/** The part of the store for webhooks; instants are milliseconds since the epoch. */
import type { Webhook } from '../core/webhook.ts';

export interface WebhookOptions {
  /** Whether it is sent notices about the service itself, too; false when absent. */
  notices?: boolean;
  /** How many webhooks a case may have; no limit when absent. */
  most?: number;
}

export interface WebhookStore {
  getWebhook(caseId: string, id: string): Promise<Webhook | null>;
  listWebhooks(caseId: string): Promise<Webhook[]>;
}

/** What people do with webhooks. */
export interface WebhookActs {
  /** @throws Invalid where the case has as many as `options.most` already */
  createWebhook(caseId: string, url: string, now: number, options?: WebhookOptions): Promise<Webhook>;
  /** False where the case has no such webhook. */
  deleteWebhook(caseId: string, id: string): Promise<boolean>;
  /** Gives a webhook a new secret; the one before signs as well until `previousUntil`. */
  rotateWebhookSecret(caseId: string, id: string, previousUntil: number): Promise<Webhook | null>;
}
