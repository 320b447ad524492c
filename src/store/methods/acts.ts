/** Everything that people do: the operation that does it and records who did it. */
import type { Acts } from '../activity.ts';
import * as acknowledgements from '../operations/acknowledgements/acknowledgements.ts';
import * as alerts from '../operations/alerts.ts';
import * as apiKeys from '../operations/api-keys.ts';
import * as badges from '../operations/badges/badges.ts';
import * as cases from '../operations/cases.ts';
import * as channels from '../operations/channels.ts';
import * as deliveries from '../operations/deliveries.ts';
import * as ownership from '../operations/ownership.ts';
import * as provisioning from '../operations/provisioning.ts';
import * as routeRules from '../operations/routes/rules.ts';
import * as settings from '../operations/settings.ts';
import * as silences from '../operations/silencing/silences.ts';
import * as snitches from '../operations/snitches.ts';
import * as statusPages from '../operations/status-pages/pages.ts';
import * as tags from '../operations/tags.ts';
import * as triggers from '../operations/triggers.ts';
import * as webhooks from '../operations/webhooks.ts';
import { type ActTable, inCase } from './method.ts';

export const acts: ActTable<Acts> = {
  createCase: cases.createCase,
  updateCase: inCase(cases.updateCase),
  deleteCase: inCase(cases.deleteCase),
  createApiKey: apiKeys.createApiKey,
  deleteApiKey: inCase(apiKeys.deleteApiKey),
  createSnitch: inCase(snitches.createSnitch),
  updateSnitch: inCase(snitches.updateSnitch),
  addTags: inCase(tags.addTags),
  removeTag: inCase(tags.removeTag),
  deleteSnitch: inCase(snitches.deleteSnitch),
  pauseSnitch: inCase(triggers.pauseSnitch),
  unpauseSnitch: inCase(triggers.unpauseSnitch),
  acknowledgeSnitch: inCase(acknowledgements.acknowledgeSnitch),
  unacknowledgeSnitch: inCase(acknowledgements.unacknowledgeSnitch),
  acknowledgeAlarm: acknowledgements.acknowledgeAlarm,
  createSilence: inCase(silences.createSilence),
  updateSilence: inCase(silences.updateSilence),
  deleteSilence: inCase(silences.deleteSilence),
  createBadge: inCase(badges.createBadge),
  deleteBadge: inCase(badges.deleteBadge),
  putStatusPage: inCase(statusPages.putStatusPage),
  deleteStatusPage: inCase(statusPages.deleteStatusPage),
  importSnitches: inCase(ownership.importSnitches),
  updateSnitches: inCase(ownership.updateSnitches),
  deleteSnitches: inCase(ownership.deleteSnitches),
  setOwnership: inCase(ownership.setOwnership),
  applyFirstCheckIn: inCase(provisioning.applyFirstCheckIn),
  createTestDelivery: inCase(alerts.insertTestAlert),
  retryDelivery: inCase(deliveries.retryDelivery),
  createWebhook: inCase(webhooks.createWebhook),
  deleteWebhook: inCase(webhooks.deleteWebhook),
  rotateWebhookSecret: inCase(webhooks.rotateWebhookSecret),
  createChannel: inCase(channels.createChannel),
  updateChannel: inCase(channels.updateChannel),
  deleteChannel: inCase(channels.deleteChannel),
  updateRoute: inCase(routeRules.updateRoute),
  setMaintenance: settings.setMaintenance,
};
