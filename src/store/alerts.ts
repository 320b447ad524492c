/** The part of the store for alerts: the triggers write them, and here they are read. */
import type { AlertWithDeliveries } from '../core/delivery.ts';
import type { Page } from './page.ts';

export interface AlertStore {
  /** Newest first; of one snitch, or of the whole case if `token` is null. */
  listAlerts(caseId: string, token: string | null, page: Page): Promise<AlertWithDeliveries[]>;
}
