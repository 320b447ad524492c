/** What the server gives to those who answer its paths. */
import type { WireMailCheck } from '../../api/wire.ts';
import type { Store } from '../../store/store.ts';
import type { Lists } from './lists.ts';

export interface Addresses {
  /** Where clients reach the API, without a slash at the end. */
  baseUrl: string;
  /** What check-in addresses begin with, without a slash at the end. */
  checkInBase: string;
}

export interface RouteContext {
  store: Store;
  clock: () => number;
  addresses: () => Addresses;
  /** What keeps the daemon from doing its work, in words; empty when all is well. */
  readiness: () => string[];
  /** Logs in at the mail server, and sends a test mail to a recipient; null where email is off. */
  checkMail: (recipient: string | null) => Promise<WireMailCheck | null>;
  /** Whether a mail server is configured. */
  sendsEmail: () => boolean;
}

/** What the routes below `/v1` have besides. */
export interface ApiContext extends RouteContext {
  lists: Lists;
}
