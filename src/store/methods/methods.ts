/** Every method of the store that works on its data: which operation it runs, and how. */
import type { AcknowledgementStore } from '../acknowledgements.ts';
import type { ActivityStore } from '../activity.ts';
import type { AlertStore } from '../alerts.ts';
import type { ApiKeyStore } from '../api-keys.ts';
import type { BadgeStore } from '../badges.ts';
import type { BlindnessStore } from '../blindness.ts';
import type { CaseStore } from '../cases.ts';
import type { ChannelStore } from '../channels.ts';
import type { CheckInStore } from '../check-ins.ts';
import type { DeliveryStore } from '../deliveries.ts';
import * as alarms from '../operations/acknowledgements/alarms.ts';
import * as activity from '../operations/activity/list.ts';
import * as alerts from '../operations/alerts.ts';
import * as apiKeys from '../operations/api-keys.ts';
import * as badges from '../operations/badges/badges.ts';
import * as blindWindows from '../operations/blind-windows.ts';
import * as cases from '../operations/cases.ts';
import * as census from '../operations/census.ts';
import * as channels from '../operations/channels.ts';
import * as checkIns from '../operations/check-ins.ts';
import * as claims from '../operations/claims.ts';
import * as clockAhead from '../operations/clock-ahead.ts';
import * as deletions from '../operations/deletions.ts';
import * as deliveries from '../operations/deliveries.ts';
import * as learned from '../operations/learned.ts';
import * as snitchList from '../operations/listed/list.ts';
import * as measured from '../operations/measured/list.ts';
import * as openRun from '../operations/open-run.ts';
import * as ownership from '../operations/ownership.ts';
import * as paces from '../operations/pace/paces.ts';
import * as provisioning from '../operations/provisioning.ts';
import * as failing from '../operations/reach/failing.ts';
import * as routedSnitches from '../operations/reach/routed-snitches.ts';
import * as repeats from '../operations/repeats.ts';
import * as reports from '../operations/reports.ts';
import * as retention from '../operations/retention/retention.ts';
import * as routeRules from '../operations/routes/rules.ts';
import * as routeWaiting from '../operations/routes/waiting.ts';
import * as settings from '../operations/settings.ts';
import * as prospect from '../operations/silencing/prospect.ts';
import * as silenceEnds from '../operations/silencing/release.ts';
import * as silenced from '../operations/silencing/silenced.ts';
import * as silences from '../operations/silencing/silences.ts';
import * as snitches from '../operations/snitches.ts';
import * as statusCounts from '../operations/status-counts.ts';
import * as statusPages from '../operations/status-pages/pages.ts';
import * as shownSnitches from '../operations/status-pages/shown.ts';
import * as looks from '../operations/sweeping/looks.ts';
import * as slices from '../operations/sweeping/slices.ts';
import * as webhooks from '../operations/webhooks.ts';
import type { OwnershipStore } from '../ownership.ts';
import type { PaceStore } from '../paces.ts';
import type { ProvisioningStore } from '../provisioning.ts';
import type { ReachStore } from '../reach.ts';
import type { RepeatStore } from '../repeats.ts';
import type { RouteStore } from '../routes.ts';
import type { ServerNoteStore } from '../server-notes.ts';
import type { SilenceStore } from '../silences.ts';
import type { SnitchStore } from '../snitches.ts';
import type { StatusPageStore } from '../status-pages.ts';
import type { OpenedStore, Store } from '../store.ts';
import type { SweepStore } from '../sweep.ts';
import type { WebhookStore } from '../webhooks.ts';
import { acts } from './acts.ts';
import { bind, bindActs, type Runner, read, type Table, work, write } from './method.ts';
import { type Guarded, guarded } from './refusals.ts';

const caseMethods: Table<CaseStore> = {
  getCase: read(cases.getCase),
  listCases: read(cases.listCases),
  emptyCaseSlice: work(cases.emptyCaseSlice),
  planDeletion: write(deletions.planDeletion),
  deletionSlice: work(deletions.deletionSlice),
};

const apiKeyMethods: Table<ApiKeyStore> = {
  provideAdminKey: write(apiKeys.provideAdminKey),
  findApiKey: read(apiKeys.findApiKey),
  getApiKey: read(apiKeys.getApiKey),
  listApiKeys: read(apiKeys.listApiKeys),
  recordKeyUse: write(apiKeys.recordKeyUse),
};

const snitchMethods: Table<SnitchStore> = {
  hasRoomForSnitch: read(statusCounts.hasRoomForSnitch),
  getSnitch: read(snitches.getSnitch),
  listSnitches: read(snitchList.listSnitches),
  listMeasured: read(measured.listMeasured),
  listReported: read(measured.listReported),
};

const acknowledgementMethods: Table<AcknowledgementStore> = {
  findAlarm: read(alarms.findAlarm),
};

const ownershipMethods: Table<OwnershipStore> = {
  ownerOfToken: read(ownership.ownerOfToken),
  roomForSnitches: read(ownership.roomForSnitches),
  listOwnership: read(ownership.listOwnership),
};

const checkInMethods: Table<CheckInStore> = {
  applyCheckIn: write(checkIns.applyCheckIn),
  listCheckIns: read(checkIns.listCheckIns),
  findValues: read(reports.findValues),
  findRuns: read(openRun.findRuns),
};

const provisioningMethods: Table<ProvisioningStore> = {
  findTokenByName: read(provisioning.findTokenByName),
};

const sweepMethods: Table<Omit<SweepStore, keyof Guarded>> = {
  moveLooks: work(looks.moveLooks),
  rescheduleSlice: work(slices.rescheduleSlice),
  relieveSlice: work(slices.relieveSlice),
  prune: work(retention.prune),
};

const blindnessMethods: Table<Omit<BlindnessStore, keyof Guarded>> = {
  postponeSlice: work(blindWindows.postponeSlice),
  setAnewSlice: work(clockAhead.setAnewSlice),
  findLearned: read(learned.findLearned),
  listPostponements: read(blindWindows.listPostponements),
};

const alertMethods: Table<AlertStore> = {
  listAlerts: read(alerts.listAlerts),
};

const deliveryMethods: Table<DeliveryStore> = {
  listDeliveries: read(deliveries.listDeliveries),
  claimDeliveries: work(claims.claimDeliveries),
  settleDelivery: work(claims.settleDelivery),
  releaseLeases: work(claims.releaseLeases),
  nextDeliveryAt: read(claims.nextDeliveryAt),
};

const webhookMethods: Table<WebhookStore> = {
  getWebhook: read(webhooks.getWebhook),
  listWebhooks: read(webhooks.listWebhooks),
};

const channelMethods: Table<ChannelStore> = {
  getChannel: read(channels.getChannel),
  listChannels: read(channels.listChannels),
};

const routeMethods: Table<RouteStore> = {
  listRoutes: read(routeRules.listRoutes),
  findOutage: read(routeWaiting.findOutage),
};

const paceMethods: Table<PaceStore> = {
  keepPace: work(paces.keepPace),
  listPaces: read(paces.listPaces),
};

const reachMethods: Table<ReachStore> = {
  listLastDeaths: read(failing.listLastDeaths),
  listRoutedSnitches: read(routedSnitches.listRoutedSnitches),
};

const repeatMethods: Table<RepeatStore> = {
  takeRepeats: work(repeats.takeRepeats),
  lasts: read(repeats.lasts),
  nextRepeatAt: read(repeats.nextRepeatAt),
};

const silenceMethods: Table<SilenceStore> = {
  unknownTags: read(silences.unknownTags),
  getSilence: read(silences.getSilence),
  listSilences: read(silences.listSilences),
  silencedAmong: read(silenced.silencedAmong),
  silenceOver: read(silenced.silenceOver),
  findProspect: read(prospect.findProspect),
  endSilencesSlice: work(silenceEnds.endSilencesSlice),
};

const badgeMethods: Table<BadgeStore> = {
  getBadge: read(badges.getBadge),
  listBadges: read(badges.listBadges),
  findBadge: read(badges.findBadge),
  tagStatuses: read(badges.tagStatuses),
};

const statusPageMethods: Table<StatusPageStore> = {
  getStatusPage: read(statusPages.getStatusPage),
  findStatusPage: read(statusPages.findStatusPage),
  listShown: read(shownSnitches.listShown),
  listPasts: read(shownSnitches.listPasts),
  listStatusChanges: read(shownSnitches.listStatusChanges),
  quietTimes: read(shownSnitches.quietTimes),
};

const serverNoteMethods: Table<ServerNoteStore> = {
  census: read(census.takeCensus),
  getSetting: read(settings.getSetting),
  setSetting: write(settings.setSetting),
};

const activityMethods: Table<ActivityStore> = {
  listActivity: read(activity.listActivity),
};

/** Everything that a store does with its data, on the database of `runner`. */
export function methodsOf(runner: Runner): Omit<Store, keyof OpenedStore> {
  return {
    ...bind(caseMethods, runner),
    ...bind(apiKeyMethods, runner),
    ...bind(snitchMethods, runner),
    ...bind(acknowledgementMethods, runner),
    ...bind(ownershipMethods, runner),
    ...bind(checkInMethods, runner),
    ...bind(provisioningMethods, runner),
    ...bind(sweepMethods, runner),
    ...bind(blindnessMethods, runner),
    ...bind(alertMethods, runner),
    ...bind(deliveryMethods, runner),
    ...bind(webhookMethods, runner),
    ...bind(channelMethods, runner),
    ...bind(routeMethods, runner),
    ...bind(paceMethods, runner),
    ...bind(reachMethods, runner),
    ...bind(repeatMethods, runner),
    ...bind(silenceMethods, runner),
    ...bind(badgeMethods, runner),
    ...bind(statusPageMethods, runner),
    ...bind(serverNoteMethods, runner),
    ...bind(activityMethods, runner),
    by: (by, at) => bindActs(acts, runner, { by, at }),
    ...guarded(runner),
  };
}
