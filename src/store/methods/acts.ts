/** Everything that people do, by the operation that does it and notes who did it. */
import type { Acts } from '../activity.ts';
import * as acknowledgements from '../operations/acknowledgements/acknowledgements.ts';
import * as alerts from '../operations/alerts.ts';
import * as apiKeys from '../operations/api-keys.ts';
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
import type { ActTable } from './method.ts';

export const acts: ActTable<Acts> = {
  createCase: cases.createCase,
  updateCase: cases.updateCase,
  deleteCase: cases.deleteCase,
  createApiKey: apiKeys.createApiKey,
  deleteApiKey: apiKeys.deleteApiKey,
  createSnitch: snitches.createSnitch,
  updateSnitch: snitches.updateSnitch,
  addTags: tags.addTags,
  removeTag: tags.removeTag,
  deleteSnitch: snitches.deleteSnitch,
  pauseSnitch: triggers.pauseSnitch,
  unpauseSnitch: triggers.unpauseSnitch,
  acknowledgeSnitch: acknowledgements.acknowledgeSnitch,
  unacknowledgeSnitch: acknowledgements.unacknowledgeSnitch,
  acknowledgeAlarm: acknowledgements.acknowledgeAlarm,
  createSilence: silences.createSilence,
  updateSilence: silences.updateSilence,
  deleteSilence: silences.deleteSilence,
  putStatusPage: statusPages.putStatusPage,
  deleteStatusPage: statusPages.deleteStatusPage,
  importSnitches: ownership.importSnitches,
  updateSnitches: ownership.updateSnitches,
  deleteSnitches: ownership.deleteSnitches,
  setOwnership: ownership.setOwnership,
  applyFirstCheckIn: provisioning.applyFirstCheckIn,
  createTestDelivery: alerts.insertTestAlert,
  retryDelivery: deliveries.retryDelivery,
  createWebhook: webhooks.createWebhook,
  deleteWebhook: webhooks.deleteWebhook,
  rotateWebhookSecret: webhooks.rotateWebhookSecret,
  createChannel: channels.createChannel,
  updateChannel: channels.updateChannel,
  deleteChannel: channels.deleteChannel,
  updateRoute: routeRules.updateRoute,
  setMaintenance: settings.setMaintenance,
};
