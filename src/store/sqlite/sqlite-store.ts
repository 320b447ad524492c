/** The store on one SQLite file: every operation behind its method of `Store`. */

import type Database from 'better-sqlite3';
import { StoreUnavailable } from '../../core/errors.ts';
import { Calendar } from '../../core/interval.ts';
import * as alerts from '../operations/alerts.ts';
import * as apiKeys from '../operations/api-keys.ts';
import * as blindWindows from '../operations/blind-windows.ts';
import * as cases from '../operations/cases.ts';
import * as census from '../operations/census.ts';
import * as checkIns from '../operations/check-ins.ts';
import * as claims from '../operations/claims.ts';
import * as clockAhead from '../operations/clock-ahead.ts';
import * as deliveries from '../operations/deliveries.ts';
import * as ownership from '../operations/ownership.ts';
import * as retention from '../operations/retention.ts';
import * as settings from '../operations/settings.ts';
import * as snitches from '../operations/snitches.ts';
import * as states from '../operations/states.ts';
import * as triggers from '../operations/triggers.ts';
import * as webhooks from '../operations/webhooks.ts';
import type { Change, Commit, Store } from '../store.ts';
import type { Operation, Transaction } from '../transaction.ts';
import { Acknowledged } from './acknowledged.ts';
import { databasePath, openDatabase, prepareDataDir } from './connection.ts';
import { GroupCommit } from './group-commit.ts';
import { lockDataDir } from './lock.ts';
import { LogSync } from './log-sync.ts';
import type { Migrated } from './migrate.ts';
import { PlaceWatch, type Report } from './place-watch.ts';

export interface SqliteOptions {
  dataDir: string;
  clock: () => number;
  /** Writing statements between two checkpoints. */
  checkpointAfter?: number;
  /** How long a statement may be only in the log, in milliseconds. */
  checkpointWithin?: number;
  /** Told of every commit, for the metrics. */
  onCommit?: (commit: Commit) => void;
  /** Told of an upgrade of the database, for the log. */
  onMigrated?: (migrated: Migrated) => void;
  /** Told what an operator must know and do something about, for the log. */
  report?: Report;
  /** How often the store looks whether its files are still in their place, in milliseconds. */
  lookEvery?: number;
  /** The newest check-ins of a snitch that are kept; all where absent, but for what the pruning takes. */
  checkInsKept?: () => number;
  /** Stands in for `fs.fdatasync`, for measurements with a slow disk. */
  syncFile?: (fd: number, done: (error: Error | null) => void) => void;
}

/**
 * Takes the data directory for this process and opens its database.
 *
 * @throws DataDirLocked when another daemon has it
 * @throws DatabaseUnusable, NewerDatabase, UpgradeFailed when the database cannot be served
 */
export function openStore(options: SqliteOptions): Store {
  const { dataDir, clock, onCommit, onMigrated, report = () => {}, lookEvery } = options;
  const { checkInsKept = () => Number.MAX_SAFE_INTEGER } = options;
  prepareDataDir(dataDir);
  const unlock = lockDataDir(dataDir);
  try {
    const db = openDatabase(dataDir, onMigrated, clock);
    const acknowledged = remember(db, dataDir, clock, report);
    const log = new LogSync(db, databasePath(dataDir), options);
    const listeners: ((change: Change) => void)[] = [];
    const announce = (changes: readonly Change[]) => {
      for (const change of changes) for (const listener of listeners) listener(change);
    };
    const calendar = new Calendar();
    const batches = new GroupCommit({ db, calendar, sync: log, acknowledged, clock, announce, onCommit });
    const place = new PlaceWatch({ db, log, dataDir, clock, report, lookEvery });
    // A database that is closed, by us or by the end of the process, copies its log once more: with its own syncs.
    const syncItself = () => db.pragma('synchronous = FULL');
    process.on('exit', syncItself);
    return {
      ...methods(batches, checkInsKept),
      health: () => ({ failingSince: batches.failingSince, commits: batches.commits, syncs: log.syncs }),
      misplaced: () => log.misplaced(),
      refused: () => batches.refused,
      isSaving: () => place.isSaving,
      lost: acknowledged.loss?.window ?? null,
      onChange: (listener) => void listeners.push(listener),
      failed: log.failed,
      close: async () => {
        await batches.drain();
        await place.end();
        process.off('exit', syncItself);
        syncItself();
        db.close();
        log.close();
        acknowledged.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

function remember(db: Database.Database, dataDir: string, clock: () => number, report: Report): Acknowledged {
  const acknowledged = new Acknowledged(db, dataDir, clock(), (error) =>
    report('what is acknowledged cannot be noted beside the database: a damaged log would not be noticed', {
      err: error,
    }),
  );
  const { loss } = acknowledged;
  if (loss) {
    const [from, to] = [loss.window.start, loss.until].map((time) => new Date(time).toISOString());
    report(
      `what was acknowledged between ${from} and ${to}, check-ins among it, is missing from the database: its log (snitch.db-wal) was damaged, cut or removed, or an older copy was put in its place by hand. A blind window is opened, so that no job is accused for it. If a file snitch.db.rescued-… is beside it, that may have what is missing: \`snitch restore\` puts it in place`,
      { from, to },
    );
  }
  return acknowledged;
}

type Methods = Omit<
  Store,
  'health' | 'misplaced' | 'isSaving' | 'lost' | 'refused' | 'onChange' | 'failed' | 'close'
>;

function methods(batches: GroupCommit, checkInsKept: () => number): Methods {
  const read = <T>(operation: Operation<T>) => batches.read(operation);
  const write = <T>(operation: Operation<T>) => batches.write(operation);
  const work = <T>(operation: Operation<T>) => batches.writeInBackground(operation);
  return {
    createCase: (settings, now) => write((tx) => cases.createCase(tx, settings, now)),
    getCase: (id) => read((tx) => cases.getCase(tx, id)),
    listCases: () => read((tx) => cases.listCases(tx)),
    updateCase: (id, changes) => write((tx) => cases.updateCase(tx, id, changes)),
    deleteCase: (id) => write((tx) => cases.deleteCase(tx, id)),
    rescheduleSlice: (now) => work((tx) => triggers.rescheduleSlice(tx, now)),
    createApiKey: (key, now, most) => write((tx) => apiKeys.createApiKey(tx, key, now, most)),
    provideAdminKey: (name, key, now) => write((tx) => apiKeys.provideAdminKey(tx, name, key, now)),
    findApiKey: (key) => read((tx) => apiKeys.findApiKey(tx, key)),
    getApiKey: (id) => read((tx) => apiKeys.getApiKey(tx, id)),
    listApiKeys: (caseId) => read((tx) => apiKeys.listApiKeys(tx, caseId)),
    deleteApiKey: (caseId, id) => write((tx) => apiKeys.deleteApiKey(tx, caseId, id)),
    recordKeyUse: (id, at) => write((tx) => apiKeys.recordKeyUse(tx, id, at)),

    hasRoomForSnitch: (caseId) => read((tx) => snitches.hasRoomForSnitch(tx, caseId)),
    createSnitch: (caseId, fields, now) => write((tx) => snitches.createSnitch(tx, caseId, fields, now)),
    getSnitch: (caseId, token) => read((tx) => snitches.getSnitch(tx, caseId, token)),
    listSnitches: (caseId, slice) => read((tx) => snitches.listSnitches(tx, caseId, slice)),
    updateSnitch: (caseId, token, changes, now) =>
      write((tx) => snitches.updateSnitch(tx, caseId, token, changes, now)),
    addTags: (caseId, token, tags) => write((tx) => snitches.addTags(tx, caseId, token, tags)),
    removeTag: (caseId, token, spellings) => write((tx) => snitches.removeTag(tx, caseId, token, spellings)),
    deleteSnitch: (caseId, token) => write((tx) => snitches.deleteSnitch(tx, caseId, token)),
    pauseSnitch: (caseId, token, until, now) =>
      write((tx) => triggers.pauseSnitch(tx, caseId, token, until, now)),
    unpauseSnitch: (caseId, token, now) => write((tx) => triggers.unpauseSnitch(tx, caseId, token, now)),

    importSnitches: (caseId, batch, now) => write((tx) => ownership.importSnitches(tx, caseId, batch, now)),
    updateSnitches: (caseId, changes, now) =>
      write((tx) => ownership.updateSnitches(tx, caseId, changes, now)),
    deleteSnitches: (caseId, tokens) => write((tx) => ownership.deleteSnitches(tx, caseId, tokens)),
    ownerOfToken: (token) => read((tx) => ownership.ownerOfToken(tx, token)),
    roomForSnitches: (caseId) => read((tx) => ownership.roomForSnitches(tx, caseId)),
    listOwnership: (caseId, slice) => read((tx) => ownership.listOwnership(tx, caseId, slice)),
    setOwnership: (caseId, tokens, owner) => write((tx) => ownership.setOwnership(tx, caseId, tokens, owner)),

    applyCheckIn: (checkIn) => write((tx) => checkIns.applyCheckIn(tx, checkIn, checkInsKept())),
    listCheckIns: (caseId, token, page) =>
      read((tx) => checkIns.listCheckIns(tx, caseId, token, page, checkInsKept())),

    applyDue: async (now, after, limit) => {
      const apply = async (tx: Transaction) =>
        batches.refused ? null : triggers.applyDue(tx, now, after, limit);
      const result = await work(apply);
      if (!result) throw new StoreUnavailable('check-ins were refused, and that has no blind window yet');
      return result;
    },
    prune: (limits) => work((tx) => retention.prune(tx, limits)),
    openBlindWindow: async (window) => {
      const told = await work(async (tx) => {
        const { refused } = batches;
        const start = Math.min(window.start, refused?.start ?? window.start);
        const end = Math.max(window.end, refused?.end ?? window.end);
        await blindWindows.openBlindWindow(tx, { start, end });
        return refused;
      });
      batches.forgetRefused(told);
    },
    recordLiveness: (at, stop) =>
      work(async (tx) => {
        if (!batches.refused) await settings.recordLiveness(tx, at, stop ?? null);
      }),
    postponeSlice: (now) => work((tx) => blindWindows.postponeSlice(tx, now)),
    setAnewSlice: (now, after) => work((tx) => clockAhead.setAnewSlice(tx, now, after)),
    listFirstCheckIns: (token) => read((tx) => states.listFirstCheckIns(tx, token)),
    listPostponements: (caseId, token, limit) =>
      read((tx) => blindWindows.listPostponements(tx, caseId, token, limit)),

    listAlerts: (caseId, token, page) => read((tx) => alerts.listAlerts(tx, caseId, token, page)),
    createTestDelivery: (caseId, webhookId, now) =>
      write((tx) => alerts.insertTestAlert(tx, caseId, webhookId, now)),
    createWebhook: (caseId, url, now, options) =>
      write((tx) => webhooks.createWebhook(tx, caseId, url, now, options)),
    getWebhook: (caseId, id) => read((tx) => webhooks.getWebhook(tx, caseId, id)),
    listWebhooks: (caseId) => read((tx) => webhooks.listWebhooks(tx, caseId)),
    deleteWebhook: (caseId, id) => write((tx) => webhooks.deleteWebhook(tx, caseId, id)),
    rotateWebhookSecret: (caseId, id, previousUntil) =>
      write((tx) => webhooks.rotateWebhookSecret(tx, caseId, id, previousUntil)),
    listDeliveries: (caseId, filter) => read((tx) => deliveries.listDeliveries(tx, caseId, filter)),
    retryDelivery: (caseId, id, now) => write((tx) => deliveries.retryDelivery(tx, caseId, id, now)),
    claimDeliveries: (request) => work((tx) => claims.claimDeliveries(tx, request)),
    settleDelivery: (id, fence, settlement) => work((tx) => claims.settleDelivery(tx, id, fence, settlement)),
    releaseLeases: (now) => work((tx) => claims.releaseLeases(tx, now)),
    nextDeliveryAt: () => read((tx) => claims.nextDeliveryAt(tx)),

    census: () => read((tx) => census.takeCensus(tx)),
    getSetting: (name) => read((tx) => settings.getSetting(tx, name)),
    setSetting: (name, value) => write((tx) => settings.setSetting(tx, name, value)),
  };
}
